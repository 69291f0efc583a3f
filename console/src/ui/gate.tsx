import { useId } from 'react';
import { isProblem, type ProblemOf } from '../../../sdk/src/problemError.ts';
import { usePages } from '../api/connection.ts';
import { evaluations } from '../texts/evaluations.ts';
import { shell } from '../texts/shell.ts';
import { Field, useFieldId } from './form.tsx';
import { Go } from './go.tsx';
import { useArtifactNames, useConfigNames } from './names.tsx';
import { Select, type Choice } from './select.tsx';
import { ProblemNote } from './states.tsx';
import { CONTROL } from './style.ts';

const { gate: texts } = evaluations;

/** What is asked of whatever is published, as it is typed. */
export interface Gated {
  /** ID of a set; '' for no gate. */
  readonly set: string;
  /** Percent. */
  readonly least: string;
  /** ID of a run; '' for none. */
  readonly run: string;
}

export const NO_GATE: Gated = { set: '', least: '', run: '' };

const isPercent = (text: string): boolean => /^\d{1,3}(?:\.\d+)?$/.test(text) && Number(text) <= 100;

/** Whether it can be sent as it is. */
export const isGateRight = ({ set, least }: Gated): boolean => set === '' || least === '' || isPercent(least);

/** As a request has it; null: there is none. */
export const gateOf = ({ set, least, run }: Gated) =>
  set === ''
    ? null
    : {
        set_id: set,
        // F1 comes in ten-thousandths: a percentage is not to miss it by a rounding
        ...(least !== '' && { min_f1: Math.round(Number(least) * 1e6) / 1e8 }),
        ...(run !== '' && { not_worse_than: run }),
      };

/** Of a list of choices the first is no choice. */
const NONE = 'none';

function Chosen({ choices, value, onChange }: { choices: readonly Choice[] } & Change) {
  return (
    <Select
      id={useFieldId()}
      choices={[{ value: NONE, name: texts.none }, ...choices]}
      value={value === '' ? NONE : value}
      onChange={(next) => onChange(next === NONE ? '' : next)}
    />
  );
}

interface Change {
  readonly value: string;
  readonly onChange: (value: string) => void;
}

function Percent({ value, onChange }: Change) {
  return (
    <input
      id={useFieldId()}
      inputMode="decimal"
      value={value}
      onChange={({ target }) => onChange(target.value.trim())}
      className={CONTROL}
    />
  );
}

interface GateProps {
  readonly tenant_id: string;
  readonly value: Gated;
  readonly onChange: (value: Gated) => void;
}

function Limits({ tenant_id, value, onChange, version }: GateProps & { version: number }) {
  const query = { tenant_id, set_id: value.set, status: 'succeeded' } as const;
  const { items = [] } = usePages('listEvaluationRuns', { query });
  const configName = useConfigNames(tenant_id);
  const artifactName = useArtifactNames(tenant_id);
  const nameOf = (config_id: string | null, artifact_id: string | null): string =>
    (config_id && configName(config_id)) ?? (artifact_id && artifactName(artifact_id)) ?? shell.aSchema;
  const runs = items
    .filter(({ set_version }) => set_version === version)
    .map(({ run_id, config_id, artifact_id, f1 }) => ({
      value: run_id,
      name: texts.runName(nameOf(config_id, artifact_id), evaluations.score(f1)),
    }));
  const error = isGateRight(value) ? undefined : texts.badLeast;
  return (
    <>
      <Field label={texts.least} say={texts.leastSay} error={error}>
        <Percent value={value.least} onChange={(least) => onChange({ ...value, least })} />
      </Field>
      <Field label={texts.run}>
        <Chosen choices={runs} value={value.run} onChange={(run) => onChange({ ...value, run })} />
      </Field>
    </>
  );
}

/** Asks what has to be measured before something is published; nothing is asked of a tenant without sets. */
export function GateFields(props: GateProps) {
  const { tenant_id, value, onChange } = props;
  const id = useId();
  const { items = [] } = usePages('listEvaluationSets', { query: { tenant_id } });
  const chosen = items.find(({ set_id }) => set_id === value.set);
  if (items.length === 0) return null;
  return (
    <section aria-labelledby={id} className="flex flex-col gap-3 rounded-lg border border-line p-3">
      <div>
        <h3 id={id} className="font-medium">
          {texts.title}
        </h3>
        <p className="text-[13px] text-soft">{texts.say}</p>
      </div>
      <div className="grid gap-4 sm:grid-cols-3">
        <Field label={texts.set}>
          <Chosen
            choices={items.map(({ set_id, name }) => ({ value: set_id, name: name ?? set_id }))}
            value={value.set}
            onChange={(set) => onChange({ ...value, set, run: '' })}
          />
        </Field>
        {chosen !== undefined && <Limits {...props} version={chosen.version} />}
      </div>
    </section>
  );
}

/** A JSON Pointer as people read it: the names in it, without places in lists. */
export const fieldName = (path: string): string =>
  path
    .split('/')
    .filter((part) => part !== '' && part !== '*')
    .map((part) => part.replace(/~1/g, '/').replace(/~0/g, '~').replaceAll('_', ' '))
    .join(', ') || path;

const sentenceOf = ({ run_id, f1, required_f1, detail }: ProblemOf<'gate_not_passed'>): string => {
  if (run_id === null) return texts.unmeasured;
  return f1 === null || required_f1 === null ? detail : texts.short(f1, required_f1);
};

/** Why something was not published; where a gate held it back, which fields fell. */
export function PublishProblem({ error }: { error: unknown }) {
  if (!isProblem(error, 'gate_not_passed')) return <ProblemNote error={error} />;
  const { run_id, fields } = error.problem;
  return (
    <div
      role="alert"
      className="flex flex-col gap-1 rounded-lg border border-bad/40 bg-bad-soft p-3 text-ink"
    >
      <p className="font-medium">{texts.refused}</p>
      <p>{sentenceOf(error.problem)}</p>
      {fields.length > 0 && <p>{texts.fields}</p>}
      <ul className="list-disc pl-5 empty:hidden">
        {fields.map(({ path, f1, before }) => (
          <li key={path} className="break-words">
            {texts.field(fieldName(path), f1, before)}
          </li>
        ))}
      </ul>
      {run_id !== null && <Go to={`/evaluations?run=${run_id}`}>{texts.toRun}</Go>}
    </div>
  );
}
