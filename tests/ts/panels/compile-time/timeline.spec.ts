import { waterfall } from '../../../../src/panels/compile-time/timeline/lanes';
import {
  spanAtPoint,
  layOutLanes
} from '../../../../src/panels/compile-time/timeline/layout';
import { fullCompilation } from '../../support/structs';
import { ONE, phase } from './compilations';

describe('spanAtPoint', () => {
  const chart = waterfall([ONE], ['cold', 'warm'], 'time');
  const layout = layOutLanes(chart);
  const [cold, warm] = layout.boxes;
  const at = (moment: number, y: number) =>
    spanAtPoint(chart, layout, moment, y, 1e3);

  it('finds the span of a row', () => {
    expect(at(1e5, cold.rows + 1)).toEqual({ lane: 0, span: 0 });
    expect(at(1e5, cold.rows + 19)).toEqual({ lane: 0, span: 1 });
    expect(at(1e6, cold.rows + 19)).toEqual({ lane: 0, span: 2 });
    expect(at(1e5, warm.rows + 1)).toEqual({ lane: 1, span: 0 });
  });

  it('means a near one, and nothing far from all', () => {
    expect(at(202e3, warm.rows + 1)).toEqual({ lane: 1, span: 0 });
    expect(at(1e6, warm.rows + 1)).toBeNull();
    expect(at(1e5, cold.top + 1)).toBeNull();
    expect(at(1e5, 9999)).toBeNull();
  });

  it('finds one of a hundred thousand at once', () => {
    const many = fullCompilation({
      phases: Array.from({ length: 1e5 }, (_, n) => phase(`p${n}`, n * 10, 9))
    });
    const big = waterfall([many], ['cold'], 'time');
    const layout = layOutLanes(big);
    const begin = process.cpuUsage();
    for (let n = 0; n < 1000; n++) {
      const target = spanAtPoint(
        big,
        layout,
        n * 100 + 4,
        layout.boxes[0].rows,
        0.1
      );
      expect(target?.span).toBe(n * 10);
    }
    // Microseconds of the processor, however busy the machine is.
    expect(process.cpuUsage(begin).user).toBeLessThan(1e6);
  });
});
