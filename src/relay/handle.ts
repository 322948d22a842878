const MIN_HEIGHT = 240;
const MAX_HEIGHT = 2400;
const STEP = 40;

const NAME = 'Height of the panel';
const HINT = 'Drag to change the height';

/**
 * The bar below a panel by which its height is dragged; with the keyboard, by
 * the arrows.
 */
export class Handle {
  /**
   * @param _height - The height to begin with, in pixels.
   * @param _set - Takes every new one.
   */
  constructor(
    private _height: number,
    private _set: (height: number) => void
  ) {
    const { node } = this;
    node.tabIndex = 0;
    node.title = HINT;
    node.setAttribute('role', 'separator');
    node.setAttribute('aria-orientation', 'horizontal');
    node.setAttribute('aria-label', NAME);
    node.setAttribute('aria-valuemin', String(MIN_HEIGHT));
    node.setAttribute('aria-valuemax', String(MAX_HEIGHT));
    Object.assign(node.style, {
      height: '8px',
      cursor: 'ns-resize',
      touchAction: 'none',
      background:
        'linear-gradient(rgb(128 128 128 / 60%), rgb(128 128 128 / 60%)) center / 48px 2px no-repeat'
    });
    node.addEventListener('pointerdown', event => {
      // Moves over the frame reach the handle all the same.
      node.setPointerCapture(event.pointerId);
      this._from = { y: event.clientY, height: this._height };
      event.preventDefault();
    });
    node.addEventListener('pointermove', event => {
      if (this._from) {
        this.height = this._from.height + event.clientY - this._from.y;
      }
    });
    const end = () => {
      this._from = null;
    };
    node.addEventListener('pointerup', end);
    node.addEventListener('pointercancel', end);
    node.addEventListener('keydown', event => {
      const way = { ArrowUp: -STEP, ArrowDown: STEP }[event.key];
      if (way !== undefined) {
        this.height += way;
        event.preventDefault();
        // The notebook would go to another cell.
        event.stopPropagation();
      }
    });
    this.height = _height;
  }

  readonly node = document.createElement('div');

  get height(): number {
    return this._height;
  }
  set height(height: number) {
    this._height = Math.min(
      MAX_HEIGHT,
      Math.max(MIN_HEIGHT, Math.round(height))
    );
    this.node.setAttribute('aria-valuenow', String(this._height));
    this._set(this._height);
  }

  private _from: { y: number; height: number } | null = null;
}
