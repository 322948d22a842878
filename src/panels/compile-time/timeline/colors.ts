import { KINDS } from '../kinds';
import type { IPaint } from './paint';

/**
 * The class of an element in a kind's colors: the background is its fill, the
 * border its edge.
 */
export function kindClass(kind: string): string {
  return `jp-Compilescope-kind jp-mod-${kind}`;
}

/**
 * Reads the theme's colors from elements that have them, since a canvas has no
 * CSS variables.
 */
export class Palette {
  /**
   * @param host - The element that contains the chart; gets hidden children.
   */
  constructor(host: HTMLElement) {
    this._host = host;
    for (const kind of KINDS) {
      const swatch = document.createElement('span');
      swatch.className = kindClass(kind);
      swatch.hidden = true;
      host.appendChild(swatch);
      this._swatches.set(kind, swatch);
    }
    for (const name of ['muted', 'line', 'accent']) {
      const probe = document.createElement('span');
      probe.className = `jp-Compilescope-timeProbe jp-mod-${name}`;
      probe.hidden = true;
      host.appendChild(probe);
      this._probes.set(name, probe);
    }
  }

  /**
   * The current colors.
   */
  read(): IPaint {
    const style = getComputedStyle(this._host);
    const styles = new Map(
      [...this._swatches].map(([kind, swatch]) => [
        kind,
        getComputedStyle(swatch)
      ])
    );
    const probe = (name: string) =>
      getComputedStyle(this._probes.get(name)!).color;
    return {
      text: style.color,
      muted: probe('muted'),
      line: probe('line'),
      accent: probe('accent'),
      background: style.backgroundColor,
      font: `${style.fontSize} ${style.fontFamily}`,
      fill: kind => styles.get(kind)?.backgroundColor ?? style.color,
      edge: kind => styles.get(kind)?.borderLeftColor ?? style.color
    };
  }

  dispose(): void {
    [...this._swatches.values(), ...this._probes.values()].forEach(element =>
      element.remove()
    );
  }

  private _host: HTMLElement;
  private _swatches = new Map<string, HTMLElement>();
  private _probes = new Map<string, HTMLElement>();
}
