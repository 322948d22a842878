import { downloadBlob } from '../../download';
import { CanvasPen } from '../../graph/paint/canvasPen';
import { paint } from '../../graph/paint/painter';
import { SvgPen } from '../../graph/paint/svgPen';
import type { IPicture } from '../../graph/paint/picture';

const MARGIN = 20;

/**
 * The longest side that browsers can paint, in pixels, and the largest area.
 */
const MAX_SIDE = 16000;
const MAX_PIXELS = 120e6;

/**
 * Saves the layout in the theme's colors as a file.
 *
 * @param name - The file's name without its extension.
 */
export async function exportPicture(
  picture: IPicture,
  kind: 'svg' | 'png',
  name: string
): Promise<void> {
  const blob =
    kind === 'svg'
      ? new Blob([svgOf(picture, name)], { type: 'image/svg+xml' })
      : await pngOf(picture);
  downloadBlob(`${name.replace(/[^\w.-]+/g, '_')}.${kind}`, blob);
}

/**
 * The text of a picture's SVG file.
 */
function svgOf(picture: IPicture, title: string): string {
  const { width, height } = picture.scene.layout;
  const pen = new SvgPen();
  paint(pen, picture, { x: 0, y: 0, width, height }, 1);
  return pen.file({
    x: -MARGIN,
    y: -MARGIN,
    width: width + 2 * MARGIN,
    height: height + 2 * MARGIN,
    title,
    background: picture.theme.background
  });
}

function pngOf(picture: IPicture): Promise<Blob> {
  const width = picture.scene.layout.width + 2 * MARGIN;
  const height = picture.scene.layout.height + 2 * MARGIN;
  // At twice the resolution of the screen, if a canvas can be that large.
  const scale = Math.min(
    2,
    MAX_SIDE / Math.max(width, height),
    Math.sqrt(MAX_PIXELS / (width * height))
  );
  const canvas = document.createElement('canvas');
  canvas.width = Math.ceil(width * scale);
  canvas.height = Math.ceil(height * scale);
  const context = canvas.getContext('2d')!;
  context.fillStyle = picture.theme.background;
  context.fillRect(0, 0, canvas.width, canvas.height);
  context.setTransform(scale, 0, 0, scale, MARGIN * scale, MARGIN * scale);
  const { width: w, height: h } = picture.scene.layout;
  paint(
    new CanvasPen(context),
    picture,
    { x: 0, y: 0, width: w, height: h },
    scale
  );
  return new Promise((resolve, reject) =>
    canvas.toBlob(
      blob =>
        blob
          ? resolve(blob)
          : reject(
              new Error('the browser could not make a picture this large')
            ),
      'image/png'
    )
  );
}
