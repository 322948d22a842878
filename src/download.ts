const TYPES: Readonly<Record<string, string>> = {
  html: 'text/html',
  py: 'text/x-python'
};

/**
 * In milliseconds; a busy browser may begin to read a file only then.
 */
const REVOKE_AFTER_MS = 60_000;

/**
 * Have the browser save a text as a file.
 */
export function download(filename: string, text: string): void {
  const ending = filename.slice(filename.lastIndexOf('.') + 1);
  const type = TYPES[ending] ?? 'application/json';
  downloadBlob(filename, new Blob([text], { type }));
}

/**
 * Have the browser save data as a file.
 */
export function downloadBlob(filename: string, blob: Blob): void {
  const url = URL.createObjectURL(blob);
  const link = document.createElement('a');
  link.href = url;
  link.download = filename;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), REVOKE_AFTER_MS);
}
