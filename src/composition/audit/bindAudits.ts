import { audits, reportAudit } from '../../commands/audits.ts';
import type { SomeFactories } from '../context.ts';
import { auditInThread } from './startAuditThread.ts';

/** Audits beside the work of the service. */
export const auditsParts = {
  audits: (from) => {
    const [{ log: store, objects }, clock] = [from.parts, from.clock];
    return audits({
      run: auditInThread(from.config),
      objects,
      clock,
      tell: reportAudit({ store, clock }),
      onError: (err) => from.logger.warn({ msg: 'how far an audit is could not be kept', err }),
    });
  },
} satisfies SomeFactories;
