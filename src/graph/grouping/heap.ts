/**
 * A min-heap of numbers.
 */
export class Heap {
  push(value: number): void {
    const { _values: values } = this;
    let at = values.length;
    values.push(value);
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (values[parent] <= value) {
        break;
      }
      values[at] = values[parent];
      at = parent;
    }
    values[at] = value;
  }

  /**
   * Take out the smallest value that is accepted; those below it are
   * dropped.
   */
  pop(accepts: (value: number) => boolean): number | undefined {
    for (;;) {
      const value = this._take();
      if (value === undefined || accepts(value)) {
        return value;
      }
    }
  }

  private _take(): number | undefined {
    const { _values: values } = this;
    const first = values[0];
    const last = values.pop();
    if (last === undefined || values.length === 0) {
      return first;
    }
    let at = 0;
    for (;;) {
      let child = 2 * at + 1;
      if (child >= values.length) {
        break;
      }
      if (child + 1 < values.length && values[child + 1] < values[child]) {
        child++;
      }
      if (values[child] >= last) {
        break;
      }
      values[at] = values[child];
      at = child;
    }
    values[at] = last;
    return first;
  }

  private _values: number[] = [];
}
