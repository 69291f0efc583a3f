import { Gauge, type Registry } from 'prom-client';

export interface GaugeSpec<Figures> {
  readonly name: string;
  readonly help: string;
  /** The one label of its values. */
  readonly label?: string;
  /** Values by the label's value; '' where there is no label. One that is left out is not shown. */
  readonly values: (figures: Figures) => Iterable<readonly [string, number]>;
}

/** A gauge that shows figures as they are when a page of metrics is asked for, or nothing. */
export const pulledGauge = <Figures>(
  register: Registry,
  figures: () => Promise<Figures | undefined>,
  { name, help, label, values }: GaugeSpec<Figures>,
): void => {
  new Gauge({
    name,
    help,
    labelNames: label === undefined ? [] : [label],
    registers: [register],
    async collect() {
      const known = await figures();
      this.reset();
      if (label === undefined) this.remove();
      if (known === undefined) return;
      for (const [at, value] of values(known))
        if (label === undefined) this.set(value);
        else this.set({ [label]: at }, value);
    },
  });
};

/** A gauge of one value; undefined: not shown. */
export const one = (value: number | undefined): readonly (readonly [string, number])[] =>
  value === undefined ? [] : [['', value]];
