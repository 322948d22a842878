/**
 * A named parameter of the page's address, after `#` or `?`: `page.html#view=graph`.
 * Empty if there is none.
 */
export function parameter(name: string): string {
  const { hash, search } = window.location;
  const behind = new URLSearchParams(hash.slice(1)).get(name);
  return behind ?? new URLSearchParams(search).get(name) ?? '';
}
