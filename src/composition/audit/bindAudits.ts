import { audits, reportAudit } from '../../commands/audits.ts';
import { bind, resolve, type Container } from '../token.ts';
import * as t from '../tokens.ts';
import { auditInThread } from './startAuditThread.ts';

/** Audits beside the work of the service. */
export const bindAudits = (container: Container): void => {
  bind(container, t.AUDITS, (from) => {
    const [{ log: store, objects }, clock] = [resolve(from, t.PARTS), resolve(from, t.CLOCK)];
    return audits({
      run: auditInThread(resolve(from, t.CONFIG)),
      objects,
      clock,
      tell: reportAudit({ store, clock }),
      onError: (err) => resolve(from, t.LOGGER).warn({ msg: 'how far an audit is could not be kept', err }),
    });
  });
};
