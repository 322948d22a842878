/**
 * A text that was compressed with gzip and written in base64.
 */
export async function gunzip(packed: string): Promise<string> {
  const binary = atob(packed);
  // A loop takes a tenth of what `Uint8Array.from` takes with a function.
  const bytes = new Uint8Array(binary.length);
  for (let i = 0; i < bytes.length; i++) {
    bytes[i] = binary.charCodeAt(i);
  }
  const stream = new Blob([bytes])
    .stream()
    .pipeThrough(new DecompressionStream('gzip'));
  return new Response(stream).text();
}
