import { useState, type KeyboardEvent } from 'react';
import { playground } from '../../texts/playground.ts';
import { Button } from '../../ui/button.tsx';
import { Plus } from '../../ui/icons/icons.tsx';
import { kindOf, suggestionsFor, withEntry } from './fields.ts';
import { useHistory } from './history.ts';
import { BelowValues, FieldsAndValues, type Read } from './results.tsx';
import { CompareSchemas } from './schemasBeside.tsx';
import {
  readSchema,
  TEMPLATE_NAMES,
  templateText,
  type SchemaPart,
  type TemplateName,
} from '../../document/values.ts';
import { ProblemNote } from '../../ui/states.tsx';
import { Going, type Conversion } from '../../document/conversion.tsx';
import { useChange } from '../../api/connection.ts';
import { useActing, useTenantId } from '../../api/session.ts';
import { Card } from '../../ui/card.tsx';
import { JsonEditor } from '../../ui/editor.tsx';
import { Go } from '../../ui/go.tsx';
import { Select } from '../../ui/select.tsx';
import { Tabs, type Tab } from '../../ui/tabs.tsx';

const { schema: texts } = playground;

/** A schema of the document's own labels, taken from its conversion. */
interface Proposing {
  readonly conversion: Conversion;
  /** The conversion was begun for it. */
  readonly isAsked: boolean;
  /** The document has no labels. */
  readonly isEmpty: boolean;
  /** Fields to choose from; undefined: none were asked for, or they were dismissed. */
  readonly proposal: SchemaPart | undefined;
  readonly propose: () => void;
  readonly dismiss: () => void;
}

/** Converts the document where it was not yet, and suggests the fields of its own labels. */
export const useProposing = (conversion: Conversion): Proposing => {
  const [proposal, suggest] = useState<SchemaPart>();
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
    if (!hasNone) suggest(schema);
  };
  const dismiss = (): void => suggest(undefined);
  return { conversion, isAsked, isEmpty, proposal, propose: () => void propose(), dismiss };
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

interface SuggestionsProps {
  readonly schema: SchemaPart;
  readonly proposal: SchemaPart;
  readonly onChange: (schema: SchemaPart) => void;
  readonly onDismiss: () => void;
}

/** Fields of the document's labels, which are accepted one by one, all at once, or in place of the others. */
function Suggestions({ schema, proposal, onChange, onDismiss }: SuggestionsProps) {
  const left = suggestionsFor(schema, proposal);
  return (
    <section aria-label={texts.suggested} className="flex flex-col gap-2 rounded-md bg-accent-soft p-3">
      <p className="font-medium">{texts.suggested}</p>
      <p className="text-[13px] text-soft">{left.length === 0 ? texts.known : texts.suggestedSay}</p>
      <ul className="flex flex-wrap gap-1">
        {left.map((entry) => {
          const [name, part] = entry;
          const kind = kindOf(part);
          return (
            <li key={name}>
              <Button
                size="small"
                aria-label={texts.accept(name)}
                title={part.description}
                onClick={() => onChange(withEntry(schema, entry))}
              >
                <Plus aria-hidden className="size-3.5" /> {name}
                {kind !== undefined && <span className="font-normal text-soft">{texts.types[kind]}</span>}
              </Button>
            </li>
          );
        })}
      </ul>
      <div className="flex flex-wrap gap-2">
        {left.length > 0 && (
          <Button size="small" onClick={() => onChange(left.reduce(withEntry, schema))}>
            {texts.acceptAll}
          </Button>
        )}
        <Button size="small" onClick={() => onChange(proposal)}>
          {texts.replaceAll}
        </Button>
        <Button size="small" look="quiet" onClick={onDismiss}>
          {texts.dismiss}
        </Button>
      </div>
    </section>
  );
}

interface Steps {
  readonly undo: (() => void) | undefined;
  readonly redo: (() => void) | undefined;
}

/** Goes a step back or forth by the keys that do it everywhere. */
const stepByKey = (event: KeyboardEvent, { undo, redo }: Steps): void => {
  const { key, ctrlKey, metaKey, shiftKey } = event;
  if (!ctrlKey && !metaKey) return;
  const isRedo = key === 'y' || (key.toLowerCase() === 'z' && shiftKey);
  if (!isRedo && key !== 'z') return;
  event.preventDefault();
  (isRedo ? redo : undo)?.();
};

function UndoRedo({ undo, redo }: Steps) {
  return (
    <span className="flex gap-2">
      <Button look="quiet" disabled={undo === undefined} onClick={undo}>
        {texts.undo}
      </Button>
      <Button look="quiet" disabled={redo === undefined} onClick={redo}>
        {texts.redo}
      </Button>
    </span>
  );
}

const textOf = (schema: SchemaPart): string => JSON.stringify(schema, undefined, 2);

/** What has the focus while it is typed into. */
const typedInto = (): Element | undefined =>
  document.activeElement instanceof HTMLInputElement && document.activeElement.type === 'text'
    ? document.activeElement
    : undefined;

interface SchemaPanelProps {
  readonly text: string;
  readonly onChange: (text: string) => void;
  readonly proposing: Proposing;
  /** undefined: nothing was read yet. */
  readonly read: Read | undefined;
  readonly otherWays: readonly Tab[];
}

function SaveAsConfig({ schema }: { schema: unknown }) {
  const { session } = useActing();
  const tenant_id = useTenantId();
  const save = useChange('publishConfig');
  if (session.role === 'service') return <p className="text-[13px] text-soft">{texts.saveWhyNot}</p>;
  return (
    <div className="flex flex-col items-start gap-2">
      <Button
        size="small"
        disabled={schema === undefined}
        isBusy={save.isPending}
        onClick={() => save.mutate({ body: { tenant_id, name: texts.configName, schema } })}
      >
        {texts.save}
      </Button>
      {save.data !== undefined && (
        <p role="status">
          <Go to={`/configs/${save.data.config_id}`}>{texts.saved}</Go>
        </p>
      )}
      <ProblemNote error={save.error} />
    </div>
  );
}

/** What is read, from a template, field by field, as JSON, or proposed from the document; and what was read by it. */
export function SchemaPanel({ text, onChange, proposing, read, otherWays }: SchemaPanelProps) {
  const [template, choose] = useState<string>('');
  const { schema, fault } = readSchema(text);
  const { change, undo, redo } = useHistory(text, onChange);
  const { proposal } = proposing;
  return (
    <Card title={texts.title} actions={<UndoRedo undo={undo} redo={redo} />}>
      <div className="flex flex-col gap-3">
        <div className="flex flex-wrap items-center gap-2">
          <div className="w-44">
            <Select
              label={texts.template}
              placeholder={texts.template}
              value={template}
              onChange={(name) => {
                choose(name);
                change(templateText(name as TemplateName));
              }}
              choices={TEMPLATE_NAMES.map((value) => ({ value, name: texts.templates[value] }))}
            />
          </div>
          <ProposeButton proposing={proposing} />
          {schema !== undefined && (
            <CompareSchemas
              now={schema}
              proposed={proposing.conversion.data?.proposed_schema ?? undefined}
              onUse={(used) => change(textOf(used))}
            />
          )}
        </div>
        <Proposed proposing={proposing} />
        {proposal !== undefined && schema !== undefined && (
          <Suggestions
            schema={schema}
            proposal={proposal}
            onChange={(next) => change(textOf(next))}
            onDismiss={proposing.dismiss}
          />
        )}
        <Tabs
          label={texts.ways}
          tabs={[
            {
              id: 'fields',
              name: texts.fields,
              content: (
                <div className="flex flex-col gap-3" onKeyDown={(event) => stepByKey(event, { undo, redo })}>
                  {schema === undefined && <p className="text-bad">{fault}</p>}
                  <FieldsAndValues
                    schema={schema}
                    onChange={(next) => change(textOf(next), typedInto())}
                    read={read}
                  />
                  {read !== undefined && <BelowValues {...read} />}
                </div>
              ),
            },
            {
              id: 'json',
              name: texts.json,
              content: (
                <div className="flex flex-col gap-2">
                  <JsonEditor label={texts.json} value={text} onChange={(next) => change(next, 'json')} />
                  {fault !== undefined && (
                    <p role="alert" className="text-bad">
                      {fault}
                    </p>
                  )}
                </div>
              ),
            },
            ...otherWays,
          ]}
        />
        <SaveAsConfig schema={schema} />
      </div>
    </Card>
  );
}
