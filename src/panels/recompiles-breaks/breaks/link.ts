/**
 * The address of torch's page about a break, if it is one that may be opened: a
 * report from elsewhere may say anything.
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
