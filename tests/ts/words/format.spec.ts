import {
  formatBytes,
  formatCount,
  formatDifference,
  formatElapsed,
  formatInterval,
  formatMicroseconds,
  formatPlace,
  formatQuantity,
  formatRoughly,
  formatShare,
  formatTimeOfDay
} from '../../../src/words/format';
import { nullTranslator } from '@jupyterlab/translation';
import cases from '../../data/formats.json';

describe('figures', () => {
  it('are those of a terminal and a cell', () => {
    // As tests/kernel/views/test_views_text.py tests the kernel's.
    const shown = {
      times_of_day: cases.times_of_day.map(([...clock]) => {
        const [hour, minute, second] = clock as number[];
        const date = new Date(2026, 5, 1, hour, minute, second);
        return formatTimeOfDay(date.getTime() / 1000);
      }),
      durations: cases.durations.map(([us]) =>
        formatMicroseconds(us as number)
      ),
      ranges: cases.ranges.map(([bounds]) =>
        formatInterval(bounds as unknown as [number, number])
      ),
      estimates: cases.estimates.map(([seconds]) =>
        formatRoughly(seconds as number, nullTranslator.load('compilescope'))
      ),
      places: cases.places.map(([file, line, cell]) =>
        formatPlace(
          {
            file: file as string,
            line: line as number,
            cell: (cell as number | null) ?? undefined
          },
          {},
          nullTranslator.load('compilescope')
        )
      ),
      differences: cases.differences.map(([apart]) =>
        formatDifference(apart as number)
      ),
      shares: cases.shares.map(([share]) => formatShare(share as number)),
      elapsed: cases.elapsed.map(([seconds]) =>
        formatElapsed(seconds as number, nullTranslator.load('compilescope'))
      ),
      sizes: cases.sizes.map(([bytes]) => formatBytes(bytes as number)),
      counts: cases.counts.map(([count]) => formatCount(count as number)),
      quantities: cases.quantities.map(([value, unit]) =>
        formatQuantity(value as number, unit as string)
      )
    };
    expect(shown).toEqual({
      times_of_day: cases.times_of_day.map(([, , , text]) => text),
      durations: cases.durations.map(([, text]) => text),
      ranges: cases.ranges.map(([, text]) => text),
      estimates: cases.estimates.map(([, text]) => text),
      places: cases.places.map(([, , , text]) => text),
      differences: cases.differences.map(([, text]) => text),
      shares: cases.shares.map(([, text]) => text),
      elapsed: cases.elapsed.map(([, text]) => text),
      sizes: cases.sizes.map(([, text]) => text),
      counts: cases.counts.map(([, text]) => text),
      quantities: cases.quantities.map(([, , text]) => text)
    });
  });

  it('have dates in the same language as all words', async () => {
    const formats = jest.spyOn(Intl, 'DateTimeFormat');
    await jest.isolateModulesAsync(async () => {
      const format = await import('../../../src/words/format');
      expect(format.formatDate(new Date(2026, 2, 4, 5, 6, 7))).toBe(
        'Mar 4, 2026, 05:06:07'
      );
    });
    expect(formats.mock.calls.map(([locale]) => locale)).toEqual(['en', 'en']);
    formats.mockRestore();
  });
});
