import { z } from 'zod';
import { reportAudit } from '../commands/findings/findings.ts';
import { OperatorError, type Operation } from './protocol.ts';

const auditInput = z.strictObject({
  findings: z.number().int().min(1),
  checks: z.array(z.string().max(40)).max(100),
});
export type AuditInput = z.output<typeof auditInput>;

/** Writes into the log that an audit found something: webhooks of operators are told. */
export const tellAudit =
  (deps: Parameters<typeof reportAudit>[0]): Operation =>
  async (input, { send }) => {
    const outcome = await reportAudit(deps)(auditInput.parse(input));
    if (outcome.kind !== 'done')
      throw new OperatorError('The findings could not be written into the log. Run the audit again.');
    await send({ told: true });
  };
