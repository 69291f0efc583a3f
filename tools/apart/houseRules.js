// What only this house forbids, as a plugin of the linter. A rule is a sentence and the shapes of code that it is
// said of (selectors as ESLint has them).
import { builtinRules } from 'eslint/use-at-your-own-risk';

const banned = (message, ...selectors) => ({
  create: (context) =>
    Object.fromEntries(selectors.map((selector) => [selector, (node) => context.report({ node, message })])),
});

const ERROR = '/^(error|cause|err|reason|thrown|failure)$/';
const MESSAGE = `MemberExpression[property.name='message']`;

export default {
  meta: { name: 'house' },
  rules: {
    'no-enums': banned('Use a union of literals.', 'TSEnumDeclaration'),
    'no-environment': banned(
      'Only src/config.ts reads the environment.',
      "MemberExpression[object.name='process'][property.name='env']",
    ),
    'no-clock-or-chance': banned(
      'Time and randomness arrive in the command.',
      "NewExpression[callee.name='Date'][arguments.length=0]",
      "MemberExpression[object.name='Date'][property.name='now']",
      "MemberExpression[object.name='Math'][property.name='random']",
    ),
    /** The formatter gives each member its line: what grows too long is split by what it is about. */
    'no-packing-spreads': banned(
      'Write members and elements into the literal itself: spreading another literal only packs its lines.',
      'SpreadElement > ObjectExpression.argument',
      'SpreadElement > ArrayExpression.argument',
      'SpreadElement > TSAsExpression.argument > :matches(ObjectExpression, ArrayExpression).expression',
      'JSXSpreadAttribute > ObjectExpression.argument',
    ),
    /** What needs more gets one type that has them as members, as a `StreamKind` has. */
    'no-many-type-parameters': banned(
      'At most two type parameters: give what belongs together one type.',
      'TSTypeParameterDeclaration[params.length>2]',
    ),
    'no-short-timeouts': banned(
      'Every spec has three minutes (.mocharc.json): less only fails where a machine is busy.',
      "CallExpression[callee.object.type='ThisExpression'][callee.property.name='timeout']" +
        '[arguments.0.value<180000]',
    ),
    /** Errors are told apart by class. Where a library gives nothing else, its adapter says so and translates. */
    'no-telling-errors-by-text': banned(
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
    ),
    'max-len': builtinRules.get('max-len'),
  },
};
