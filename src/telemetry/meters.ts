import { Counter, Histogram, type Registry } from 'prom-client';

/** Makes counters and histograms of a registry. */
export const metersOn = (register: Registry) => {
  const registers = [register];
  return {
    counter: <Label extends string = never>(name: string, help: string, ...labelNames: Label[]) =>
      new Counter({ name, help, labelNames, registers }),
    /** `buckets` in the unit of the name. */
    histogram: <Label extends string = never>(
      name: string,
      help: string,
      { buckets, labelNames = [] }: { readonly buckets: number[]; readonly labelNames?: readonly Label[] },
    ) => new Histogram({ name, help, buckets, labelNames, registers }),
  };
};
