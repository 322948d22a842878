/**
 * Callbacks for pointer gestures, in pixels of the element.
 */
export interface IGestures {
  onPan: (dx: number, dy: number) => void;
  onZoom: (factor: number, x: number, y: number) => void;
  onPoint: (x: number, y: number) => void;
  onLeave: () => void;
  onClick: (x: number, y: number, isDouble: boolean) => void;
}

/**
 * The distance in pixels within which a press still counts as a click.
 */
const CLICK_TOLERANCE = 4;

/**
 * Handles mouse, wheel, touch and pen on an element.
 *
 * One pointer pans, two pinch; the wheel zooms, or pans with Shift or when
 * turned sideways.
 *
 * @returns Removes the handlers.
 */
export function followPointer(
  element: HTMLElement,
  gestures: IGestures
): () => void {
  const down = new Map<number, { x: number; y: number }>();
  let strayed = 0;
  const place = (event: PointerEvent | WheelEvent | MouseEvent) => {
    const { left, top } = element.getBoundingClientRect();
    return { x: event.clientX - left, y: event.clientY - top };
  };

  const onDown = (event: PointerEvent) => {
    if (event.button > 1) {
      return;
    }
    element.setPointerCapture(event.pointerId);
    down.set(event.pointerId, place(event));
    strayed = down.size > 1 ? Infinity : 0;
  };
  const onMove = (event: PointerEvent) => {
    const at = place(event);
    const was = down.get(event.pointerId);
    if (!was) {
      gestures.onPoint(at.x, at.y);
      return;
    }
    const others = [...down].filter(([id]) => id !== event.pointerId);
    down.set(event.pointerId, at);
    if (others.length === 0) {
      strayed += Math.hypot(at.x - was.x, at.y - was.y);
      if (strayed > CLICK_TOLERANCE) {
        gestures.onLeave();
        gestures.onPan(at.x - was.x, at.y - was.y);
      }
      return;
    }
    const other = others[0][1];
    const before = Math.hypot(was.x - other.x, was.y - other.y);
    const now = Math.hypot(at.x - other.x, at.y - other.y);
    gestures.onPan((at.x - was.x) / 2, (at.y - was.y) / 2);
    if (before > 10) {
      gestures.onZoom(now / before, (at.x + other.x) / 2, (at.y + other.y) / 2);
    }
  };
  const onUp = (event: PointerEvent) => {
    const wasDown = down.delete(event.pointerId);
    if (wasDown && strayed <= CLICK_TOLERANCE && event.button === 0) {
      const { x, y } = place(event);
      gestures.onClick(x, y, false);
    }
  };
  const onDouble = (event: MouseEvent) => {
    const { x, y } = place(event);
    gestures.onClick(x, y, true);
  };
  const onCancel = (event: PointerEvent) => {
    down.delete(event.pointerId);
  };
  const onLeave = () => gestures.onLeave();
  const onWheel = (event: WheelEvent) => {
    event.preventDefault();
    const { x, y } = place(event);
    // Deltas in lines, pages and pixels.
    const unit = [1, 16, 400][event.deltaMode] ?? 1;
    if (event.shiftKey) {
      gestures.onPan(-(event.deltaX || event.deltaY) * unit, 0);
    } else if (Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
      gestures.onPan(-event.deltaX * unit, -event.deltaY * unit);
    } else {
      // Browsers report a pinch on a touchpad as wheel events with Ctrl, in small
      // steps.
      const speed = event.ctrlKey ? 0.01 : 0.0016;
      const step = Math.max(-240, Math.min(240, event.deltaY * unit));
      gestures.onZoom(Math.exp(-step * speed), x, y);
    }
  };
  element.addEventListener('pointerdown', onDown);
  element.addEventListener('pointermove', onMove);
  element.addEventListener('pointerup', onUp);
  element.addEventListener('pointercancel', onCancel);
  element.addEventListener('pointerleave', onLeave);
  element.addEventListener('dblclick', onDouble);
  element.addEventListener('wheel', onWheel, { passive: false });
  return () => {
    element.removeEventListener('pointerdown', onDown);
    element.removeEventListener('pointermove', onMove);
    element.removeEventListener('pointerup', onUp);
    element.removeEventListener('pointercancel', onCancel);
    element.removeEventListener('pointerleave', onLeave);
    element.removeEventListener('dblclick', onDouble);
    element.removeEventListener('wheel', onWheel);
  };
}
