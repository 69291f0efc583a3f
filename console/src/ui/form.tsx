import { zodResolver } from '@hookform/resolvers/zod';
import { createContext, use, useId, useState, type MouseEvent, type ReactNode } from 'react';
import {
  Controller,
  FormProvider,
  useForm,
  useFormContext,
  type DefaultValues,
  type FieldValues,
} from 'react-hook-form';
import type { z } from 'zod';
import { CONTROL, DOUBLE_CLICK_MS } from './style.ts';
import { Select, type Choice } from './select.tsx';

interface FormProps<Values extends FieldValues> {
  readonly schema: z.ZodType<Values, Values>;
  readonly initial: DefaultValues<Values>;
  readonly onSubmit: (values: Values) => void | Promise<void>;
  readonly children: ReactNode;
}

/** A form checked by a zod schema; what was typed stays when sending fails. Its fields are `TextField` and others. */
export function Form<Values extends FieldValues>({ schema, initial, onSubmit, children }: FormProps<Values>) {
  const form = useForm<Values>({ resolver: zodResolver(schema) as never, defaultValues: initial });
  const [openedAt] = useState(() => performance.now());
  /** The second click of the double click that opened the form chooses nothing of it. */
  const swallow = (event: MouseEvent): void => {
    if (event.detail < 2 || event.timeStamp - openedAt > DOUBLE_CLICK_MS) return;
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <FormProvider {...form}>
      <form
        noValidate
        onClickCapture={swallow}
        onSubmit={(event) => void form.handleSubmit((values) => onSubmit(values))(event)}
        className="flex flex-col gap-4"
      >
        {children}
      </form>
    </FormProvider>
  );
}

const FieldId = createContext('');

interface FieldProps {
  readonly label: string;
  readonly say?: string | undefined;
  readonly error?: string | undefined;
  readonly children: ReactNode;
}

/** A control with its label, a line of help and what is wrong with it. The control takes its id by `useFieldId`. */
export function Field({ label, say, error, children }: FieldProps) {
  const id = useId();
  return (
    <FieldId value={id}>
      <div className="flex min-w-0 flex-col gap-1">
        <label htmlFor={id} className="font-medium">
          {label}
        </label>
        {children}
        {say !== undefined && error === undefined && (
          <p id={`${id}-say`} className="text-[13px] text-soft">
            {say}
          </p>
        )}
        {error !== undefined && (
          <p id={`${id}-say`} role="alert" className="text-[13px] text-bad">
            {error}
          </p>
        )}
      </div>
    </FieldId>
  );
}

/** The id that a control inside of a Field takes. */
export const useFieldId = (): string => use(FieldId);

interface NamedProps {
  readonly name: string;
  readonly label: string;
  readonly say?: string;
}

const useError = (name: string): string | undefined => {
  const { getFieldState, formState } = useFormContext();
  return getFieldState(name, formState).error?.message;
};

function Input({
  name,
  type,
  isInvalid,
  ...rest
}: {
  name: string;
  type: string;
  isInvalid: boolean;
  placeholder?: string | undefined;
  autoFocus?: boolean | undefined;
  autoComplete?: string | undefined;
}) {
  const { register } = useFormContext();
  const id = useFieldId();
  const options = type === 'number' ? { valueAsNumber: true } : {};
  return (
    <input
      id={id}
      type={type}
      {...rest}
      {...register(name, options)}
      aria-invalid={isInvalid}
      aria-describedby={`${id}-say`}
      className={CONTROL}
    />
  );
}

interface TextFieldProps extends NamedProps {
  readonly type?: 'text' | 'password' | 'email' | 'number' | 'date' | 'datetime-local';
  readonly placeholder?: string;
  readonly autoFocus?: boolean;
  readonly autoComplete?: string;
}

/** A line of text, a number or a date of the form around it. */
export function TextField({ name, label, say, type = 'text', ...rest }: TextFieldProps) {
  const error = useError(name);
  return (
    <Field label={label} say={say} error={error}>
      <Input name={name} type={type} isInvalid={error !== undefined} {...rest} />
    </Field>
  );
}

function Area({ name, isInvalid, rows }: { name: string; isInvalid: boolean; rows: number }) {
  const { register } = useFormContext();
  const id = useFieldId();
  return (
    <textarea
      id={id}
      rows={rows}
      {...register(name)}
      spellCheck={false}
      aria-invalid={isInvalid}
      aria-describedby={`${id}-say`}
      className={`${CONTROL} h-auto! py-1.5`}
    />
  );
}

/** Lines of text of the form around it. */
export function LinesField({ name, label, say, rows }: NamedProps & { readonly rows: number }) {
  const error = useError(name);
  return (
    <Field label={label} say={say} error={error}>
      <Area name={name} isInvalid={error !== undefined} rows={rows} />
    </Field>
  );
}

function Choose({ name, choices }: { name: string; choices: readonly Choice[] }) {
  const id = useFieldId();
  return (
    <Controller
      name={name}
      render={({ field }) => (
        <Select id={id} choices={choices} value={String(field.value ?? '')} onChange={field.onChange} />
      )}
    />
  );
}

/** One of a few of the form around it. */
export function SelectField({ name, label, say, choices }: NamedProps & { choices: readonly Choice[] }) {
  return (
    <Field label={label} say={say} error={useError(name)}>
      <Choose name={name} choices={choices} />
    </Field>
  );
}

interface MonthInputProps {
  readonly label: string;
  readonly month: string;
  readonly onChange: (month: string | undefined) => void;
}

/** Chooses a month for a page; it is of no form. */
export function MonthInput({ label, month, onChange }: MonthInputProps) {
  return (
    <label className="flex items-center gap-2">
      <span className="whitespace-nowrap text-soft">{label}</span>
      <input
        type="month"
        value={month}
        onChange={({ target }) => onChange(target.value === '' ? undefined : target.value)}
        className={`${CONTROL} w-44`}
      />
    </label>
  );
}
