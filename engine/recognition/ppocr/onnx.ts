import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

/*
 * ONNX Runtime by its C interface. The package of its makers brings the libraries of every platform, 288 MB; those
 * of sherpa-onnx bring the same library for one platform each, and npm installs the one that fits. It is called
 * through koffi, which has a build for each platform too.
 */

/** Numbers in and out of a network, with their shape. */
export interface Numbers {
  readonly data: Float32Array;
  readonly shape: readonly number[];
}

/** Something of the library's: an address, which means nothing here. */
type Pointer = bigint;

/** A function takes pointers and numbers, and memory where it reads from or writes to. */
type Call = (...values: readonly unknown[]) => Pointer | null;

type Koffi = typeof import('koffi');

const requireFrom = createRequire(import.meta.url);

const FILES: Readonly<Record<string, string>> = {
  linux: 'libonnxruntime.so',
  darwin: 'libonnxruntime.dylib',
  win32: 'onnxruntime.dll',
};

/** Where the library of this platform is installed; throws where its package or koffi is not. */
export const libraryPath = (): string => {
  requireFrom.resolve('koffi');
  const platform = process.platform === 'win32' ? 'win' : process.platform;
  const packageFile = requireFrom.resolve(`sherpa-onnx-${platform}-${process.arch}/package.json`);
  return join(dirname(packageFile), FILES[process.platform] ?? '');
};

/** Version of the table of functions: the first has all that is called here, and every later library keeps it. */
const TABLE_VERSION = 1;
const TABLE_LENGTH = 102;

const STATUS = 'void *';
const HANDLE = 'void *';
const SIZE = 'size_t';

/** What is called: its place in the table `OrtApi` of `onnxruntime_c_api.h`, what it gives, what it takes. */
const functionsOf = ({ out, inout, pointer }: Koffi) => {
  const made = out(pointer(HANDLE));
  return {
    messageOf: [2, 'str', [STATUS]],
    createEnv: [3, STATUS, ['int', 'str', made]],
    createSession: [8, STATUS, [HANDLE, HANDLE, SIZE, HANDLE, made]],
    run: [9, STATUS, [HANDLE, HANDLE, 'void **', 'void **', SIZE, 'void **', SIZE, inout(pointer(HANDLE))]],
    createOptions: [10, STATUS, [made]],
    withoutPattern: [17, STATUS, [HANDLE]],
    withoutArena: [19, STATUS, [HANDLE]],
    setThreadsInside: [24, STATUS, [HANDLE, 'int']],
    setThreadsBeside: [25, STATUS, [HANDLE, 'int']],
    inputName: [36, STATUS, [HANDLE, SIZE, HANDLE, made]],
    outputName: [37, STATUS, [HANDLE, SIZE, HANDLE, made]],
    createTensor: [49, STATUS, [HANDLE, HANDLE, SIZE, 'int64_t *', SIZE, 'int', made]],
    dataOf: [51, STATUS, [HANDLE, made]],
    dimensionCount: [61, STATUS, [HANDLE, out(pointer(SIZE))]],
    dimensions: [62, STATUS, [HANDLE, out(pointer('int64_t')), SIZE]],
    shapeOf: [65, STATUS, [HANDLE, made]],
    memoryOfCpu: [69, STATUS, ['int', 'int', made]],
    allocator: [78, STATUS, [made]],
    dropStatus: [93, 'void', [STATUS]],
    dropValue: [96, 'void', [HANDLE]],
    dropShape: [99, 'void', [HANDLE]],
  } as const;
};

type Name = keyof ReturnType<typeof functionsOf>;
type Functions = Readonly<Record<Name, Call>>;

/** Fatal faults alone are logged: others come back as a status. */
const LOG_LEVEL = 4;
const FLOAT = 1;
/** Of an arena, and by default: how memory is had. */
const [ARENA, BY_DEFAULT] = [0, 0];

interface Library {
  /** For as long as it is held the code stays in memory. */
  readonly held: unknown;
  readonly koffi: Koffi;
  readonly functions: Functions;
}

const load = (): Library => {
  const koffi = requireFrom('koffi') as Koffi;
  const held = koffi.load(libraryPath());
  const base = held.func('OrtGetApiBase', HANDLE, [])() as Pointer;
  const [getApi] = koffi.decode(base, HANDLE, 1) as readonly Pointer[];
  const api = koffi.call(getApi, koffi.proto(HANDLE, ['uint32_t']), TABLE_VERSION) as Pointer;
  const table = koffi.decode(api, HANDLE, TABLE_LENGTH) as readonly Pointer[];
  const calls = Object.entries(functionsOf(koffi)).map(([name, [at, gives, takes]]): [string, Call] => {
    const type = koffi.proto(gives, [...takes]);
    return [name, (...values) => koffi.call(table[at], type, ...values) as Pointer | null];
  });
  return { held, koffi, functions: Object.fromEntries(calls) as Functions };
};

/** Throws what the library says of a call that failed. */
const checked = ({ messageOf, dropStatus }: Functions, status: Pointer | null): void => {
  if (status === null) return;
  const message = messageOf(status) as unknown as string;
  dropStatus(status);
  throw new Error(message);
};

/** The one thing that a call makes, which it writes behind what it takes. */
const made = (functions: Functions, call: Call, ...values: readonly unknown[]): Pointer => {
  const place: [Pointer | null] = [null];
  checked(functions, call(...values, place));
  const [pointer] = place;
  if (pointer === null) throw new Error('the library made nothing and gave no reason');
  return pointer;
};

/** Without arenas: they would keep the largest picture's memory, 1 GB, for good. One thread, as all work of a child. */
const optionsOf = (functions: Functions): Pointer => {
  const options = made(functions, functions.createOptions);
  checked(functions, functions.withoutArena(options));
  checked(functions, functions.withoutPattern(options));
  checked(functions, functions.setThreadsInside(options, 1));
  checked(functions, functions.setThreadsBeside(options, 1));
  return options;
};

/** The numbers of a tensor, copied, with their shape. */
const numbersOf = ({ functions, koffi }: Library, tensor: Pointer): Numbers => {
  const info = made(functions, functions.shapeOf, tensor);
  try {
    const count = Number(made(functions, functions.dimensionCount, info));
    const lengths = new Array<bigint | number>(count).fill(0);
    checked(functions, functions.dimensions(info, lengths, count));
    const shape = lengths.map(Number);
    const length = shape.reduce((product, one) => product * one, 1);
    const data = koffi.decode(made(functions, functions.dataOf, tensor), 'float', length) as Float32Array;
    return { data, shape };
  } finally {
    functions.dropShape(info);
  }
};

/**
 * Opens networks of one input and one output, given as bytes of their files; they stay for as long as the process.
 * Throws where the library is not installed or does not load, and what it says of a network that it cannot open or
 * run.
 */
export const onnxRuntime = (): ((model: Uint8Array) => (input: Numbers) => Numbers) => {
  const library = load();
  const { functions } = library;
  const env = made(functions, functions.createEnv, LOG_LEVEL, 'quire');
  const options = optionsOf(functions);
  const memory = made(functions, functions.memoryOfCpu, ARENA, BY_DEFAULT);
  const allocator = made(functions, functions.allocator);
  // A tensor does not copy its numbers, and of a native address the collector of garbage knows nothing.
  const inUse = new Set<Float32Array>();
  return (model) => {
    const session = made(functions, functions.createSession, env, model, model.byteLength, options);
    const input = made(functions, functions.inputName, session, 0, allocator);
    const output = made(functions, functions.outputName, session, 0, allocator);
    return ({ data, shape }) => {
      const given = [memory, data, data.byteLength, shape, shape.length, FLOAT];
      const tensor = made(functions, functions.createTensor, ...given);
      inUse.add(data);
      try {
        const answer = made(functions, functions.run, session, null, [input], [tensor], 1, [output], 1);
        try {
          return numbersOf(library, answer);
        } finally {
          functions.dropValue(answer);
        }
      } finally {
        functions.dropValue(tensor);
        inUse.delete(data);
      }
    };
  };
};
