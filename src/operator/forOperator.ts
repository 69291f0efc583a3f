import { DataDirInUse } from '../../domain/ports/services.ts';
import { LogUnavailable } from '../../domain/ports/log.ts';
import { SqlUnavailable } from '../../projections/engine/ports.ts';
import { UnreadableSeal } from '../audit/seals/seal.ts';
import { ConfigError } from '../configError.ts';
import { OperatorError } from './protocol.ts';

/** Errors that an operator can mend, by their class: their message is all that is shown. */
const FOR_OPERATOR: readonly (new (...args: never[]) => Error)[] = [
  OperatorError,
  ConfigError,
  DataDirInUse,
  SqlUnavailable,
  LogUnavailable,
  UnreadableSeal,
];

export const isForOperator = (error: unknown): error is Error =>
  FOR_OPERATOR.some((known) => error instanceof known);
