import * as React from 'react';
import { problemOf } from '../../../protocol/client';
import type { ViewState } from './frame';

/**
 * Data that a part of a view loads by itself while it is displayed.
 *
 * @param load - Fetches it; null: there is nothing to fetch yet.
 * @param key - Identifies it: another key causes another load.
 * @param place - What it belongs to: the loaded data is kept until other data
 * for the same place arrives.
 */
export function useLoaded<T>(
  load: (() => Promise<T>) | null,
  key: string,
  label: string,
  place = key
): Exclude<ViewState<T>, { kind: 'empty' }> {
  const [loaded, setLoaded] = React.useState<{
    key: string;
    place: string;
    state: Exclude<ViewState<T>, { kind: 'empty' }>;
  } | null>(null);
  const isOn = load !== null;
  React.useEffect(() => {
    if (!load) {
      return;
    }
    let isCurrent = true;
    load().then(
      data =>
        isCurrent && setLoaded({ key, place, state: { kind: 'data', data } }),
      error =>
        isCurrent &&
        setLoaded({
          key,
          place,
          state: { kind: 'error', problem: problemOf(error) }
        })
    );
    return () => {
      isCurrent = false;
    };
    // `load` is a new function at each call; the key identifies what it loads.
  }, [key, isOn]);
  const isShown =
    loaded?.key === key ||
    (loaded?.place === place && loaded.state.kind === 'data');
  return isOn && loaded && isShown ? loaded.state : { kind: 'loading', label };
}
