import type { IPen, IStroke, ITextStyle } from './pen';
import { HALO } from './pen';

/**
 * Writes an SVG file. Texts stay texts.
 */
export class SvgPen implements IPen {
  rect(
    x: number,
    y: number,
    width: number,
    height: number,
    radius: number,
    fill: string | null,
    stroke?: IStroke
  ): void {
    this._parts.push(
      `<rect x="${short(x)}" y="${short(y)}" width="${short(width)}" ` +
        `height="${short(height)}"${radius ? ` rx="${short(radius)}"` : ''} ` +
        `fill="${fill ? escape(fill) : 'none'}"${attributes(stroke)}/>`
    );
  }

  curves(
    points: ArrayLike<number>,
    ranges: readonly number[],
    stroke: IStroke
  ): void {
    const path: string[] = [];
    for (let r = 0; r < ranges.length; r += 2) {
      let x = points[ranges[r]];
      let y = points[ranges[r] + 1];
      path.push(`M${short(x)} ${short(y)}`);
      for (let i = ranges[r] + 2; i < ranges[r + 1]; i += 2) {
        const nextX = points[i];
        const nextY = points[i + 1];
        const end = `${short(nextX)} ${short(nextY)}`;
        if (Math.abs(nextX - x) < 0.5) {
          path.push(`L${end}`);
        } else {
          const middle = short((y + nextY) / 2);
          path.push(`C${short(x)} ${middle} ${short(nextX)} ${middle} ${end}`);
        }
        x = nextX;
        y = nextY;
      }
    }
    if (path.length > 0) {
      const lines = attributes({ ...stroke });
      this._parts.push(
        `<path d="${path.join('')}" fill="none" stroke-linecap="round"${lines}/>`
      );
    }
  }

  heads(tips: readonly number[], size: number, fill: string): void {
    const path: string[] = [];
    const wide = size * 0.6;
    for (let i = 0; i < tips.length; i += 2) {
      const [x, y] = [tips[i], tips[i + 1]];
      path.push(
        `M${short(x)} ${short(y)}L${short(x - wide)} ${short(y - size)}` +
          `L${short(x + wide)} ${short(y - size)}Z`
      );
    }
    if (path.length > 0) {
      this._parts.push(`<path d="${path.join('')}" fill="${escape(fill)}"/>`);
    }
  }

  text(text: string, x: number, y: number, style: ITextStyle): void {
    const anchor = style.anchor ?? 'start';
    this._parts.push(
      `<text x="${short(x)}" y="${short(y)}" fill="${escape(style.color)}" ` +
        `font-size="${style.size}" font-family="${escape(style.family)}"` +
        (style.weight ? ` font-weight="${style.weight}"` : '') +
        (anchor === 'start' ? '' : ` text-anchor="${anchor}"`) +
        (style.halo
          ? ` stroke="${escape(style.halo)}" stroke-width="${2 * HALO}"` +
            ' stroke-linejoin="round" paint-order="stroke"'
          : '') +
        ` xml:space="preserve">${escape(text)}</text>`
    );
  }

  /**
   * The file's text.
   */
  file(options: {
    x: number;
    y: number;
    width: number;
    height: number;
    title: string;
    background: string;
  }): string {
    const { x, y, width, height, title, background } = options;
    const box = [x, y, width, height].map(short);
    return (
      `<svg xmlns="http://www.w3.org/2000/svg" viewBox="${box.join(' ')}" ` +
      `width="${box[2]}" height="${box[3]}">` +
      `<title>${escape(title)}</title>` +
      `<rect x="${box[0]}" y="${box[1]}" width="${box[2]}" height="${box[3]}" ` +
      `fill="${escape(background)}"/>` +
      `${this._parts.join('\n')}</svg>\n`
    );
  }

  private _parts: string[] = [];
}

function attributes(stroke?: IStroke): string {
  if (!stroke) {
    return '';
  }
  const { color, width, dash, alpha } = stroke;
  return (
    ` stroke="${escape(color)}" stroke-width="${short(width)}"` +
    (dash?.length ? ` stroke-dasharray="${dash.join(' ')}"` : '') +
    (alpha !== undefined ? ` stroke-opacity="${alpha}"` : '')
  );
}

function short(value: number): string {
  return String(Math.round(value * 10) / 10);
}

const ENTITIES: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;'
};

// Letters that no XML file may have.
// eslint-disable-next-line no-control-regex
const INVALID_IN_XML = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g;

function escape(text: string): string {
  return text
    .replace(INVALID_IN_XML, '\ufffd')
    .replace(/[&<>"']/g, letter => ENTITIES[letter]);
}
