import { useState } from 'react';
import { playground } from '../../texts/playground.ts';
import { Button } from '../../ui/button.tsx';
import { FieldRows } from './fieldRows.tsx';
import { readSchema, TEMPLATE_NAMES, templateText, type SchemaPart, type TemplateName } from './values.ts';
import { ProblemNote } from '../../ui/states.tsx';
import { Going, type Conversion } from './conversion.tsx';
import { useChange } from '../../api/connection.ts';
import { useActing, useTenantId } from '../../api/session.ts';
import { Card } from '../../ui/card.tsx';
import { JsonEditor } from '../../ui/editor.tsx';
import { Select } from '../../ui/select.tsx';
import { Tabs } from '../../ui/tabs.tsx';

const { schema: texts } = playground;

/** A schema of the document's own labels, taken from its conversion. */
interface Proposing {
  readonly conversion: Conversion;
  /** The conversion was begun for it. */
  readonly isAsked: boolean;
  /** The document has no labels. */
  readonly isEmpty: boolean;
  readonly propose: () => void;
}

/** Converts the document where it was not yet, and hands its own schema to `onSchema`. */
export const useProposing = (conversion: Conversion, onSchema: (text: string) => void): Proposing => {
  const [isAsked, ask] = useState(false);
  const [isEmpty, mark] = useState(false);
  const propose = async (): Promise<void> => {
    ask(true);
    mark(false);
    const done = conversion.data ?? (await conversion.convert());
    if (done === undefined) return;
    ask(false);
    const schema: SchemaPart = done.proposed_schema ?? {};
    const hasNone = Object.keys(schema.properties ?? {}).length === 0;
    mark(hasNone);
    if (!hasNone) onSchema(JSON.stringify(schema, undefined, 2));
  };
  return { conversion, isAsked, isEmpty, propose: () => void propose() };
};

/** The button, with what it costs. */
function ProposeButton({ proposing }: { proposing: Proposing }) {
  const { conversion, propose } = proposing;
  const { data, credits, isPending } = conversion;
  return (
    <>
      <Button isBusy={isPending} onClick={propose}>
        {texts.propose}
      </Button>
      <span className="text-[13px] text-soft">
        {data === undefined ? texts.proposeSay(credits) : texts.proposeFree}
      </span>
    </>
  );
}

/** How far it is, and what came of it. */
function Proposed({ proposing }: { proposing: Proposing }) {
  const { conversion, isAsked, isEmpty, propose } = proposing;
  if (isEmpty) return <p role="status">{texts.nothing}</p>;
  if (!isAsked) return null;
  if (conversion.isPending) return <Going step={conversion.step} onStop={conversion.stop} />;
  return <ProblemNote error={conversion.error} onRetry={propose} />;
}

interface SchemaPanelProps {
  readonly text: string;
  readonly onChange: (text: string) => void;
  readonly proposing: Proposing;
}

function SaveAsConfig({ schema }: { schema: unknown }) {
  const { session } = useActing();
  const tenant_id = useTenantId();
  const save = useChange('publishConfig');
  if (session.role !== 'admin') return <p className="text-[13px] text-soft">{texts.saveWhyNot}</p>;
  return (
    <div className="flex flex-col items-start gap-2">
      <Button
        size="small"
        disabled={schema === undefined}
        isBusy={save.isPending}
        onClick={() => save.mutate({ body: { tenant_id, name: 'Playground', schema } })}
      >
        {texts.save}
      </Button>
      {save.data !== undefined && <p role="status">{texts.saved(save.data.config_id)}</p>}
      <ProblemNote error={save.error} />
    </div>
  );
}

/** What is read: from a template, field by field, as JSON, or proposed from the document. */
export function SchemaPanel({ text, onChange, proposing }: SchemaPanelProps) {
  const [template, choose] = useState<string>('');
  const { schema, fault } = readSchema(text);
  return (
    <Card title={texts.title}>
      <div className="flex flex-col gap-3">
        <div className="flex flex-wrap items-center gap-2">
          <div className="w-44">
            <Select
              label={texts.template}
              placeholder={texts.template}
              value={template}
              onChange={(name) => {
                choose(name);
                onChange(templateText(name as TemplateName));
              }}
              choices={TEMPLATE_NAMES.map((value) => ({ value, name: texts.templates[value] }))}
            />
          </div>
          <ProposeButton proposing={proposing} />
        </div>
        <Proposed proposing={proposing} />
        <Tabs
          label={texts.ways}
          tabs={[
            {
              id: 'fields',
              name: texts.fields,
              content:
                schema === undefined ? (
                  <p className="text-bad">{fault}</p>
                ) : (
                  <FieldRows
                    schema={schema}
                    className="max-h-96 overflow-y-auto"
                    onChange={(next) => onChange(JSON.stringify(next, undefined, 2))}
                  />
                ),
            },
            {
              id: 'json',
              name: texts.json,
              content: (
                <div className="flex flex-col gap-2">
                  <JsonEditor label={texts.json} value={text} onChange={onChange} />
                  {fault !== undefined && (
                    <p role="alert" className="text-bad">
                      {fault}
                    </p>
                  )}
                </div>
              ),
            },
          ]}
        />
        <SaveAsConfig schema={schema} />
      </div>
    </Card>
  );
}
