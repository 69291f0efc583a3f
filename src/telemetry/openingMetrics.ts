import { Counter, Gauge, type Registry } from 'prom-client';

/** Files that processes opened, jobs that found theirs open, and files that are kept open now. */
type OpeningsOf = () => { readonly opened: number; readonly wentOn: number; readonly kept: number };

/** How often documents are opened: once for a request, unless its process was needed for others meanwhile. */
export const openingMetrics = (register: Registry, openings: OpeningsOf): void => {
  const registers = [register];
  new Counter({
    name: 'quire_document_openings_total',
    help: 'Jobs on a file by how they came to it: opened, or kept open by an earlier job of the request.',
    labelNames: ['how'] as const,
    registers,
    collect() {
      const { opened, wentOn } = openings();
      this.reset();
      this.inc({ how: 'opened' }, opened);
      this.inc({ how: 'kept' }, wentOn);
    },
  });
  new Gauge({
    name: 'quire_documents_kept_open',
    help: 'Files that are kept open now for the next job of their request.',
    registers,
    collect() {
      this.set(openings().kept);
    },
  });
};
