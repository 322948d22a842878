import { Camera } from '../../../src/panels/graph/drawing/camera';

const WIDTH = 800;
const HEIGHT = 600;

/**
 * Left, top, right and bottom of a box on the screen.
 */
function place(
  camera: Camera,
  box: { x: number; y: number; width: number; height: number }
): number[] {
  const { x, y, scale } = camera;
  return [
    (box.x - x) * scale,
    (box.y - y) * scale,
    (box.x + box.width - x) * scale,
    (box.y + box.height - y) * scale
  ];
}

describe('Camera', () => {
  it('fits what is small at its own size, in the middle', () => {
    const camera = new Camera();
    camera.fit({ width: 100, height: 200 }, WIDTH, HEIGHT);
    expect(camera.scale).toBe(1);
    expect([camera.x, camera.y]).toEqual([-350, -200]);
  });

  it('frames a box that is cut at the edge, with a margin', () => {
    const camera = new Camera();
    const box = { x: 700, y: 500, width: 300, height: 300 };
    expect(camera.holds(box, WIDTH, HEIGHT)).toBe(true);
    expect(camera.frame(box, WIDTH, HEIGHT)).toBe(true);
    expect(camera.scale).toBe(1);
    const [left, top, right, bottom] = place(camera, box);
    expect(Math.min(left, top)).toBeGreaterThanOrEqual(24);
    expect(right).toBeLessThanOrEqual(WIDTH - 24);
    expect(bottom).toBeLessThanOrEqual(HEIGHT - 24);
  });

  it('zooms out for a box that does not fit, and stays at one that does', () => {
    const camera = new Camera();
    const tall = { x: 0, y: 0, width: 100, height: 1104 };
    expect(camera.frame(tall, WIDTH, HEIGHT)).toBe(true);
    expect(camera.scale).toBe(0.5);
    expect(camera.frame(tall, WIDTH, HEIGHT)).toBe(false);
    const endless = { ...tall, height: 20_000 };
    expect(camera.holds(endless, WIDTH, HEIGHT)).toBe(false);
  });

  it('begins a wide layout before a box, not in it', () => {
    const camera = new Camera();
    camera.home({ width: 2000, height: 4000 }, WIDTH, HEIGHT);
    const { x } = camera;
    const box = { x: x - 60, y: 0, width: 100, height: 30 };
    camera.startBefore([
      { ...box, x: x + 10 },
      { ...box, x: x - 100 }
    ]);
    expect(camera.x).toBe(x);
    camera.startBefore([box, { ...box, x: x - 80 }]);
    expect(place(camera, { ...box, x: x - 80 })[0]).toBeCloseTo(24);
  });
});
