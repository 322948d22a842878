import { LabIcon } from '@jupyterlab/ui-components';

/** A line that wraps at the margin. */
export const wrapIcon = new LabIcon({
  name: 'jupyterlab-compilescope:wrap',
  svgstr: `<svg xmlns="http://www.w3.org/2000/svg" width="16" viewBox="0 0 24 24">
  <g class="jp-icon3" style="fill:none" stroke="#616161" stroke-width="2">
    <path d="M3 6h18M3 12h14a3.5 3.5 0 0 1 0 7h-4M3 19h6"/>
    <path d="m15.5 16-3 3 3 3"/>
  </g>
</svg>`
});

/** Two crossing arrows. */
export const swapIcon = new LabIcon({
  name: 'jupyterlab-compilescope:swap',
  svgstr: `<svg xmlns="http://www.w3.org/2000/svg" width="16" viewBox="0 0 24 24">
  <g class="jp-icon3" style="fill:none" stroke="#616161" stroke-width="2">
    <path d="M4 8h15M4 16h15"/>
    <path d="m15 4 4 4-4 4M8 12l-4 4 4 4"/>
  </g>
</svg>`
});
