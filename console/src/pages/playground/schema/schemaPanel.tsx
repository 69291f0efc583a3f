import { useState } from 'react';
import { useChange } from '../../../api/hooks.ts';
import { useActing, useTenantId } from '../../../api/useSession.ts';
import { playground } from '../../../texts/playground.ts';
import { Button } from '../../../ui/button.tsx';
import { Card } from '../../../ui/card.tsx';
import { JsonEditor } from '../../../ui/editor/jsonEditor.tsx';
import { Select } from '../../../ui/form/select.tsx';
import { ProblemNote } from '../../../ui/problemNote.tsx';
import { Tabs } from '../../../ui/tabs.tsx';
import { readSchema } from '../values.ts';
import { Fields } from './fields.tsx';
import { ProposeButton, Proposed, type Proposing } from './proposing.tsx';
import { TEMPLATE_NAMES, templateText, type TemplateName } from './templates.ts';

const { schema: texts } = playground;

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
                  <Fields schema={schema} onChange={(next) => onChange(JSON.stringify(next, undefined, 2))} />
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
