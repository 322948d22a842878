/**
 * What the page's address says by name, behind `#` or `?`: `page.html#view=graph`.
 * Empty if it says nothing.
 */
export function named(name: string): string {
  const { hash, search } = window.location;
  const behind = new URLSearchParams(hash.slice(1)).get(name);
  return behind ?? new URLSearchParams(search).get(name) ?? '';
}
