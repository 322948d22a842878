export { Badge, Bar, Meter } from './badge';
export type { BadgeKind } from './badge';
export { Absent, Empty, ViewFrame } from './frame';
export type { IEmpty, ViewState } from './frame';
export * from './format';
export { DecisionList, decisionTitle } from './decisions';
export {
  estimateText,
  formatRate,
  isStudied,
  launchesByLine,
  launchTimeText,
  peakShare
} from './launchTime';
export { useLoaded } from './loaded';
export { useRows, useWidth } from './rows';
export { Prose } from './prose';
export { SearchField, Select, Check } from './search';
export { CodeBlock } from './snippet';
export { isSelected, reveal, SourceLink } from './source';
export { compareNumbers, sorted, VirtualTable } from './table';
export type { IColumn, Sort } from './table';
export { ReportView } from './view';
export type { IShown } from './view';
export { VirtualTree } from './tree';
export type { ITreeItem } from './tree';
