import type { Fault } from '../../../api/faults.ts';
import type { EventScope } from '../../../api/events.ts';
import type { Verified } from './verifier.ts';

/** What the page asks of the worker: to begin, or to go on where it stopped. */
export interface Asked {
  readonly scope: EventScope;
}

/** How far the worker is; an error comes as what is shown of it, since its class does not cross over. */
export interface Told {
  readonly verified: Omit<Verified, 'error'>;
  readonly fault: Fault | undefined;
}
