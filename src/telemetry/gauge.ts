import { Gauge, type Registry } from 'prom-client';

/** Figures that may not be there now: then their gauges vanish from the page. */
type Ask<Figures> = () => Promise<Figures | undefined> | Figures | undefined;

/**
 * Gauges that show figures as they are when a page of metrics is asked for. One whose value is undefined is not
 * shown.
 */
export const pulledGauges =
  <Figures>(register: Registry, figures: Ask<Figures>) =>
  (name: string, help: string, value: (figures: Figures) => number | undefined): void => {
    new Gauge({
      name,
      help,
      registers: [register],
      async collect() {
        const known = await figures();
        this.reset();
        this.remove();
        const shown = known === undefined ? undefined : value(known);
        if (shown !== undefined) this.set(shown);
      },
    });
  };

/** As `pulledGauges`, each with values by one label; a value that is left out is not shown. */
export const pulledGaugesBy =
  <Figures>(register: Registry, label: string, figures: Ask<Figures>) =>
  (name: string, help: string, values: (figures: Figures) => Iterable<readonly [string, number]>): void => {
    new Gauge({
      name,
      help,
      labelNames: [label],
      registers: [register],
      async collect() {
        const known = await figures();
        this.reset();
        if (known === undefined) return;
        for (const [at, value] of values(known)) this.set({ [label]: at }, value);
      },
    });
  };
