/**
 * The address of torch's page about a graph break, if it is safe to open: a
 * report from others may contain any text.
 */
export function documentationOf(link: string): string | null {
  try {
    const { protocol, href } = new URL(link);
    return protocol === 'https:' || protocol === 'http:' ? href : null;
  } catch {
    // Not an address: there is nothing to open.
    return null;
  }
}
