import type { SourceLine } from '../../protocol/types';
import type { ISubjectModel } from '../../interfaces/subject';

/**
 * Selects a watched compilation in all views.
 *
 * @param where - A line to select as well; its cell is known once the report
 * has arrived.
 */
export function showWatched(
  model: ISubjectModel,
  compilation: string,
  where: SourceLine | null,
  origin: object
): void {
  const subject = model.watch?.subject;
  if (!subject) {
    return;
  }
  const select = () => {
    if (where) {
      model.select({ source: { file: where.file, line: where.line }, origin });
    }
  };
  const isThere = model.subject === subject && model.report !== null;
  model.subject = subject;
  model.compilation = compilation;
  if (isThere) {
    select();
    return;
  }
  const onReport = () => {
    if (model.subject !== subject) {
      model.reportChanged.disconnect(onReport);
    } else if (model.report) {
      model.reportChanged.disconnect(onReport);
      select();
    }
  };
  model.reportChanged.connect(onReport);
}
