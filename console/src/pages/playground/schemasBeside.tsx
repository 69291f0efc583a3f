import type { ConfigResponse } from '@quire/client';
import { useState } from 'react';
import { useRead } from '../../api/connection.ts';
import { useTenantId } from '../../api/session.ts';
import { playground } from '../../texts/playground.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Select } from '../../ui/select.tsx';
import { ProblemNote, Skeleton } from '../../ui/states.tsx';
import { classes } from '../../ui/style.ts';
import { fieldsBeside, type FieldLine } from './beside.ts';
import { TEMPLATE_NAMES, templateText, type SchemaPart } from '../../document/values.ts';

const { beside: texts, schema: schemaTexts } = playground;

/** A schema that one may read by. */
interface Source {
  readonly id: string;
  readonly name: string;
  readonly schema: SchemaPart;
}

const NOW = 'now';
const PROPOSAL = 'proposal';

const ofConfig = ({ config_id, name, version, schema }: ConfigResponse): readonly Source[] =>
  schema === null ? [] : [{ id: config_id, name: texts.config(name ?? config_id, version), schema }];

const TEMPLATES: readonly Source[] = TEMPLATE_NAMES.map((name) => ({
  id: `template ${name}`,
  name: texts.template(schemaTexts.templates[name]),
  schema: JSON.parse(templateText(name)) as SchemaPart,
}));

const kindText = (kind: FieldLine['kinds'][number]): string => {
  if (kind === undefined) return '–';
  return kind === 'json' ? schemaTexts.other : schemaTexts.types[kind];
};

/** A line of fields; what differs from the first schema stands out. */
function Line({ line }: { line: FieldLine }) {
  const [first] = line.kinds;
  return (
    <tr className="border-t border-line/60">
      <th scope="row" className="py-1 pr-3 text-left font-normal break-all">
        {line.path}
      </th>
      {line.kinds.map((kind, at) => (
        <td
          key={at}
          data-differs={kind !== first}
          className={classes('px-2 py-1', kind === first ? 'text-soft' : 'bg-accent-soft font-medium')}
        >
          {kindText(kind)}
        </td>
      ))}
    </tr>
  );
}

interface TableProps {
  readonly sources: readonly Source[];
  readonly shown: readonly Source[];
  readonly onShow: (ids: readonly string[]) => void;
  readonly onUse: (schema: SchemaPart) => void;
}

function SchemaTable({ sources, shown, onShow, onUse }: TableProps) {
  const lines = fieldsBeside(shown.map(({ schema }) => schema));
  const same = lines.filter(({ isSame }) => isSame).length;
  const choices = sources.map(({ id, name }) => ({ value: id, name }));
  return (
    <div tabIndex={0} role="region" aria-label={texts.title} className="min-w-0 overflow-x-auto">
      <table className="w-full min-w-[36rem] table-fixed border-collapse">
        <caption className="pb-2 text-left text-soft">{texts.same(same, lines.length)}</caption>
        <thead>
          <tr className="align-top">
            <th scope="col" className="py-1 pr-3 text-left font-medium">
              {schemaTexts.name}
            </th>
            {shown.map(({ id, schema }, at) => (
              <th key={at} scope="col" className="p-1 text-left">
                <span className="flex flex-col gap-1">
                  <Select
                    label={texts.column(at + 1)}
                    choices={choices}
                    value={id}
                    onChange={(next) => onShow(shown.map((one) => one.id).with(at, next))}
                  />
                  <Button size="small" disabled={id === NOW} onClick={() => onUse(schema)}>
                    {texts.use}
                  </Button>
                </span>
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {lines.map((line) => (
            <Line key={line.path} line={line} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

interface SchemasBesideProps {
  readonly now: SchemaPart;
  /** Of the document itself, where it was converted. */
  readonly proposed: SchemaPart | undefined;
  readonly onUse: (schema: SchemaPart) => void;
}

/** What one may read by, side by side; one of them is taken by a button. */
function SchemasBeside({ now, proposed, onUse }: SchemasBesideProps) {
  const tenant_id = useTenantId();
  const configs = useRead('listConfigs', { query: { tenant_id } });
  const saved = configs.data?.items.flatMap(ofConfig) ?? [];
  const proposal = proposed === undefined ? [] : [{ id: PROPOSAL, name: texts.proposal, schema: proposed }];
  const sources = [{ id: NOW, name: texts.now, schema: now }, ...proposal, ...saved, ...TEMPLATES];
  const [ids, show] = useState<readonly string[]>();
  const chosen = ids ?? sources.slice(0, 3).map(({ id }) => id);
  const shown = chosen.flatMap((id) => sources.find((one) => one.id === id) ?? []);
  return (
    <>
      <ProblemNote error={configs.error} onRetry={() => void configs.refetch()} />
      {/* Columns that change while they are read would tell of another schema. */}
      {configs.isPending ? (
        <Skeleton lines={4} />
      ) : (
        <SchemaTable sources={sources} shown={shown} onShow={show} onUse={onUse} />
      )}
    </>
  );
}

/** Opens them over the page. */
export function CompareSchemas(props: SchemasBesideProps) {
  const [isOpen, open] = useState(false);
  return (
    <>
      <Button onClick={() => open(true)}>{texts.open}</Button>
      <Dialog isOpen={isOpen} onOpenChange={open} title={texts.title} say={texts.say} isWide>
        <SchemasBeside
          {...props}
          onUse={(schema) => {
            props.onUse(schema);
            open(false);
          }}
        />
      </Dialog>
    </>
  );
}
