import { usePages } from '../api/connection.ts';
import { shell } from '../texts/shell.ts';
import { SelectField } from './form.tsx';

/** Of a list of choices the first is no choice. */
export const NONE = 'none';

interface PickProps {
  readonly name: string;
  readonly label: string;
  readonly say?: string;
  readonly tenant_id: string;
  /** What stands at first, also where the list does not have it. */
  readonly initial?: string | null;
}

interface Named {
  readonly value: string;
  readonly name: string;
}

const withNone = (choices: readonly Named[], initial: string | null | undefined): readonly Named[] => {
  const isThere = initial == null || choices.some(({ value }) => value === initial);
  const own = isThere ? [] : [{ value: initial, name: initial }];
  return [{ value: NONE, name: shell.none }, ...own, ...choices];
};

/** One of the tenant's saved configs, by its name. */
export function ConfigField({ tenant_id, initial, ...field }: PickProps) {
  const { items = [] } = usePages('listConfigs', { query: { tenant_id } });
  const choices = items.map(({ config_id, name, version }) => ({
    value: config_id,
    name: `${name ?? config_id} · ${shell.version(version)}`,
  }));
  return <SelectField {...field} choices={withNone(choices, initial)} />;
}

/** One of the tenant's trained artifacts, by where it belongs and how well it reads. */
export function ArtifactField({ tenant_id, initial, ...field }: PickProps) {
  const { items = [] } = usePages('listArtifacts', { query: { tenant_id } });
  const choices = items.map(({ artifact_id, project_id, task_id, best_score }) => ({
    value: artifact_id,
    name: `${project_id}/${task_id} · ${(100 * best_score).toFixed(1)} % · ${artifact_id.slice(-6)}`,
  }));
  return <SelectField {...field} choices={withNone(choices, initial)} />;
}
