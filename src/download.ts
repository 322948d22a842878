const TYPES: Readonly<Record<string, string>> = {
  html: 'text/html',
  py: 'text/x-python'
};

/**
 * Have the browser save a text as a file.
 */
export function download(filename: string, text: string): void {
  const ending = filename.slice(filename.lastIndexOf('.') + 1);
  const type = TYPES[ending] ?? 'application/json';
  const url = URL.createObjectURL(new Blob([text], { type }));
  const link = document.createElement('a');
  link.href = url;
  link.download = filename;
  link.click();
  // The browser reads the file after this turn.
  setTimeout(() => URL.revokeObjectURL(url));
}
