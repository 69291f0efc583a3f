import tseslint from 'typescript-eslint';
import prettier from 'eslint-config-prettier';
import reactHooks from 'eslint-plugin-react-hooks';
import regexp from 'eslint-plugin-regexp';

const banned = (message, ...selectors) => selectors.map((selector) => ({ selector, message }));

const ERROR = '/^(error|cause|err|reason|thrown|failure)$/';
const MESSAGE = `MemberExpression[property.name='message']`;

/** Errors are told apart by class. Where a library gives nothing else, its adapter says so and translates. */
const NO_TELLING_BY_TEXT = banned(
  'Tell errors by their class, never by name or text. At the edge to a library that gives ' +
    'nothing else: disable this here, say why, and translate it into a class or a result.',
  `BinaryExpression[operator=/^[!=]==?$/] > MemberExpression[property.name='name'][object.name=${ERROR}]`,
  `BinaryExpression[operator=/^[!=]==?$/] > ` +
    `MemberExpression[property.name='name'][object.property.name=/^(error|cause|` +
    `constructor)$/]`,
  `SwitchStatement > MemberExpression.discriminant[property.name=/^(name|message)$/][object.name=${ERROR}]`,
  'CallExpression[callee.property.name=/^(includes|has|indexOf|test|exec)$/] > ' +
    `MemberExpression.arguments[property.name='name'][object.name=${ERROR}]`,
  `CallExpression[callee.property.name=/^(includes|startsWith|endsWith|indexOf|match|` +
    `matchAll|search)$/][callee.object.property.name='message']`,
  `CallExpression[callee.property.name=/^(test|exec)$/] > ${MESSAGE}.arguments`,
  `CallExpression[callee.property.name=/^(test|exec)$/] > Identifier.arguments[name='message']`,
  `BinaryExpression[operator=/^[!=]==?$/][right.type='Literal'][right.raw!="''"] > ` +
    `${MESSAGE}.left[object.name=${ERROR}]`,
);

/** What needs more gets one type that has them as members, as a `StreamKind` has. */
const FEW_TYPE_PARAMETERS = banned(
  'At most two type parameters: give what belongs together one type.',
  'TSTypeParameterDeclaration[params.length>2]',
);

export default tseslint.config(
  {
    ignores: [
      '**/dist',
      'console/dist.next',
      '.test',
      'node_modules',
      'data',
      'coverage',
      'bin',
      'sdk/src/generated',
    ],
  },
  ...tseslint.configs.strictTypeChecked,
  {
    files: ['**/*.ts', '**/*.tsx'],
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    linterOptions: { reportUnusedDisableDirectives: 'error' },
    rules: {
      'max-lines': ['error', { max: 500, skipBlankLines: true, skipComments: true }],
      'max-lines-per-function': ['error', { max: 60, skipBlankLines: true, skipComments: true }],
      'max-params': ['error', 3],
      complexity: ['error', 10],
      'max-depth': ['error', 3],
      '@typescript-eslint/consistent-type-definitions': 'off',
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true, allowNever: true }],
      '@typescript-eslint/no-confusing-void-expression': ['error', { ignoreArrowShorthand: true }],
      '@typescript-eslint/switch-exhaustiveness-check': [
        'error',
        { considerDefaultExhaustiveForUnions: true },
      ],
      '@typescript-eslint/explicit-module-boundary-types': 'off',
      '@typescript-eslint/no-unused-vars': [
        'error',
        { ignoreRestSiblings: true, argsIgnorePattern: '^_', varsIgnorePattern: '^_' },
      ],
      'no-restricted-syntax': [
        'error',
        ...banned('Use a union of literals.', 'TSEnumDeclaration'),
        ...banned(
          'Only src/config.ts reads the environment.',
          "MemberExpression[object.name='process'][property.name='env']",
        ),
        ...NO_TELLING_BY_TEXT,
        ...FEW_TYPE_PARAMETERS,
      ],
    },
  },
  {
    files: [
      'domain/**/*.ts',
      'projections/**/*.ts',
      'engine/{document,extraction,kernel,ports}/**/*.ts',
      'engine/learning/{scoring,weights}/*.ts',
    ],
    rules: {
      'no-restricted-globals': ['error', 'process', 'setTimeout', 'setInterval', 'fetch'],
      'no-restricted-syntax': [
        'error',
        ...banned('Use a union of literals.', 'TSEnumDeclaration'),
        ...banned(
          'Time and randomness arrive in the command.',
          "NewExpression[callee.name='Date'][arguments.length=0]",
          "MemberExpression[object.name='Date'][property.name='now']",
          "MemberExpression[object.name='Math'][property.name='random']",
        ),
        ...NO_TELLING_BY_TEXT,
        ...FEW_TYPE_PARAMETERS,
      ],
    },
  },
  {
    // Runs where there is no Node: what browsers, Deno and Bun have too.
    files: ['sdk/src/**/*.ts'],
    rules: { 'no-restricted-globals': ['error', 'process', 'Buffer', 'global', 'require', 'setImmediate'] },
  },
  {
    files: ['test/**/*.ts', 'console/test/**/*.ts', 'engine/test/**/*.ts', 'tools/**/*.ts'],
    rules: {
      'max-lines-per-function': 'off',
      'max-lines': ['error', { max: 500, skipBlankLines: true, skipComments: true }],
      '@typescript-eslint/no-unused-expressions': 'off',
      '@typescript-eslint/no-non-null-assertion': 'off',
      'no-restricted-syntax': [
        'error',
        ...banned(
          'Every spec has three minutes (.mocharc.json): less only fails where a machine is busy.',
          "CallExpression[callee.object.type='ThisExpression'][callee.property.name='timeout']" +
            '[arguments.0.value<180000]',
        ),
      ],
    },
  },
  {
    files: ['{test,engine/test,tools}/**/*.{spec,suite,contract}.ts'],
    rules: {
      'no-restricted-globals': ['error', { name: 'setTimeout', message: 'Wait for what is meant: until().' }],
      'no-restricted-imports': [
        'error',
        {
          name: 'node:timers/promises',
          importNames: ['setTimeout'],
          message: 'Wait for what is meant: until().',
        },
      ],
    },
  },
  {
    // Every expression here may meet a document's text, a schema, a header or a body.
    files: [
      'engine/**/*.ts',
      'sdk/**/*.ts',
      'adapters/**/*.ts',
      'domain/**/*.ts',
      'projections/**/*.ts',
      'src/**/*.ts',
    ],
    ignores: ['engine/test/**'],
    plugins: { regexp },
    rules: {
      'regexp/no-super-linear-backtracking': ['error', { report: 'potential' }],
      'regexp/no-super-linear-move': ['error', { report: 'potential' }],
    },
  },
  {
    // A component says what is seen: its lines are mostly elements, one below the other.
    files: ['console/src/**/*.tsx'],
    plugins: { 'react-hooks': reactHooks },
    rules: {
      'max-lines-per-function': ['error', { max: 120, skipBlankLines: true, skipComments: true }],
      'react-hooks/rules-of-hooks': 'error',
      'react-hooks/exhaustive-deps': 'error',
    },
  },
  { files: ['src/config.ts'], rules: { 'no-restricted-syntax': 'off' } },
  { files: ['**/*.js', '**/*.cjs'], ...tseslint.configs.disableTypeChecked },
  prettier,
  {
    // Prettier breaks code at 110, but no text: a long one is put together with `+`.
    files: ['**/*.ts', '**/*.tsx', '**/*.js'],
    rules: { 'max-len': ['error', { code: 120, ignorePattern: 'https?://\\S{80}' }] },
  },
);
