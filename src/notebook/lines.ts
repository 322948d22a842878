import type { Region } from '../protocol/types';
import type { ISubjectModel } from '../interfaces/subject';

/**
 * Whether something was generated from a line of the user's code, as far as
 * the code shown left and right tells.
 */
export async function isLinked(
  model: ISubjectModel,
  file: string,
  line: number
): Promise<boolean> {
  for (const regions of await shownRegions(model)) {
    if (
      regions.some(region =>
        region.sources.some(
          source => source.file === file && source.line === line
        )
      )
    ) {
      return true;
    }
  }
  return false;
}

/**
 * The regions of the wrappers of both shown variants.
 */
async function shownRegions(model: ISubjectModel): Promise<Region[][]> {
  const { report, compilation, selectedVariants } = model;
  const names = new Set([selectedVariants.left, selectedVariants.right]);
  const results = [...names].flatMap(name => {
    const variant = report?.variants.find(summary => summary.name === name);
    const artifacts = variant?.compilations.find(
      ({ id }) => id === compilation
    )?.artifacts;
    return (artifacts ?? [])
      .filter(({ name }) => /(^|\.)(python|cpp)$/.test(name))
      .map(artifact => model.getArtifact(name, compilation, artifact.name));
  });
  return (await Promise.allSettled(results)).flatMap(result =>
    result.status === 'fulfilled' ? [result.value.regions] : []
  );
}
