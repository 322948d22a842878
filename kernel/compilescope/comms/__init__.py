"""The report in the panel: typed messages over comms."""
