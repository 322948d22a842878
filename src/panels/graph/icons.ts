import { LabIcon } from '@jupyterlab/ui-components';

function icon(name: string, paths: string): LabIcon {
  return new LabIcon({
    name: `jupyterlab-compilescope:graph-${name}`,
    svgstr: `<svg xmlns="http://www.w3.org/2000/svg" width="16" viewBox="0 0 16 16">
  <g class="jp-icon3" style="fill:none" stroke="#616161" stroke-width="1.4" stroke-linecap="round" stroke-linejoin="round">${paths}</g>
</svg>`
  });
}

/** A plus sign. */
export const plusIcon = icon('plus', '<path d="M8 3v10M3 8h10"/>');

/** A minus sign. */
export const minusIcon = icon('minus', '<path d="M3 8h10"/>');

/** The corners of a frame. */
export const fitIcon = icon(
  'fit',
  '<path d="M2.5 6V2.5H6M10 2.5h3.5V6M13.5 10v3.5H10M6 13.5H2.5V10"/>'
);

/** Two frames side by side. */
export const splitIcon = icon(
  'split',
  '<rect x="2" y="3" width="12" height="10" rx="1"/><path d="M8 3v10"/>'
);

/** A tree as text. */
export const outlineIcon = icon(
  'outline',
  '<path d="M2.5 3.5h6M5 8h8.5M5 12.5h8.5M2.5 3.5V12.5h1"/>'
);

/** An expanding frame. */
export const openIcon = icon(
  'open',
  '<rect x="2.5" y="2.5" width="11" height="11" rx="1.5"/><path d="M8 5.5v5M5.5 8h5"/>'
);

/** A collapsing frame. */
export const shutIcon = icon(
  'shut',
  '<rect x="2.5" y="2.5" width="11" height="11" rx="1.5"/><path d="M5.5 8h5"/>'
);

/** One element that becomes three. */
export const decomposeIcon = icon(
  'decompose',
  '<path d="M2.5 8h4M6.5 8l4-4.5h3M6.5 8h7M6.5 8l4 4.5h3"/>'
);
