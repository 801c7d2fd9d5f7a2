/** Families of numbers as protobuf: between two pages only the eight bytes of each value change. */
import type { Attributes, HrTime } from '@opentelemetry/api';
import type { DataPoint } from '@opentelemetry/sdk-metrics';

interface KeptFamily {
  readonly bytes: Uint8Array;
  readonly view: DataView;
  readonly points: readonly KeptPoint[];
}

interface KeptPoint {
  readonly attributes: Attributes;
  readonly startTime: HrTime;
  /** Index of the first byte of the value. */
  readonly valueAt: number;
}

export class KeptNumbers {
  #kept: KeptFamily | undefined;

  /** Returns the family with the values of these points; undefined if it is not one of exactly these points. */
  filled(points: readonly DataPoint<number>[]): Uint8Array | undefined {
    if (points.length !== this.#kept?.points.length) return undefined;
    const { bytes, view, points: kept } = this.#kept;
    for (let i = 0; i < points.length; i++) {
      const { attributes, startTime, value } = points[i]!;
      const point = kept[i]!;
      if (attributes !== point.attributes) return undefined;
      if (startTime[0] !== point.startTime[0] || startTime[1] !== point.startTime[1]) return undefined;
      view.setFloat64(point.valueAt, value, true);
    }
    return bytes;
  }

  /** Keeps a copy of a family. `valuesAt`: of each point. Requires: the attributes cannot change. */
  keep(family: Uint8Array, points: readonly DataPoint<number>[], valuesAt: readonly number[]): void {
    const bytes = family.slice();
    this.#kept = {
      bytes,
      view: new DataView(bytes.buffer),
      points: points.map(({ attributes, startTime }, i) => ({ attributes, startTime, valueAt: valuesAt[i]! })),
    };
  }

  forget(): void {
    this.#kept = undefined;
  }
}
