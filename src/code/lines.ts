import { FORMS } from '../protocol/types';
import type { ArtifactResult, Region } from './types';

const BREAK = /\r\n?|\n/;

/** A kernel's name in an artifact's: `inference.NAME` of `kernel.inference.NAME.ptx@XBLOCK=64`. */
const KERNEL = new RegExp(
  `^kernel\\.(.+?)(?:\\.(?:${Object.keys(FORMS).join('|')})(?:@.*)?)?$`,
  's'
);

/**
 * The regions of a kernel's text by the lines of its source: each line of the source, and the runs
 * of lines that it was compiled to. Those of one line carry the same key, in every form of the
 * kernel, and in another variant where the line there is the same.
 *
 * @returns Empty for a text that is not of a compiled kernel.
 */
export function lineRegions(result: ArtifactResult): Region[] {
  const { artifact, lines, source, text } = result;
  const qualified = KERNEL.exec(artifact.name)?.[1];
  if (!qualified || (lines.length === 0 && artifact.forms.length === 0)) {
    return [];
  }
  const isSource = artifact.forms.length > 0;
  const written = (isSource ? text : source).split(BREAK);
  const lineNumbers = isSource ? written.map((_, index) => index + 1) : lines;
  const kernel = qualified.slice(qualified.indexOf('.') + 1);
  const regions: Region[] = [];
  let last: Region | null = null;
  lineNumbers.forEach((line, index) => {
    const label = written[line - 1]?.trim() ?? '';
    const key = label && `line:${qualified}:${line}:${label}`;
    if (last && key && last.key === key) {
      last.end = index + 1;
      return;
    }
    last = key
      ? {
          kind: 'line',
          start: index + 1,
          end: index + 1,
          key,
          label,
          kernel,
          nodes: [],
          sources: []
        }
      : null;
    if (last) {
      regions.push(last);
    }
  });
  return regions;
}
