// The constants that the scanner's module has for the rules, as the text of its source file assembly/rule-codes.ts.
// AssemblyScript cannot read the table of rules itself.

import { noMemoryCode, noRuleCode, rulesByCode } from '../rules.ts';

/** Relative to the root of the repository. */
export const ruleCodesPath = 'proto/wire/scanner/assembly/rule-codes.ts';

export function ruleCodesText(): string {
  const constants = [...rulesByCode]
    .sort(([a], [b]) => a - b)
    .map(([code, rule]) => `export const ${constantName(rule)} = ${code};\n`);
  return `// Generated from proto/wire/rules.ts by \`npm run generate:rules\`: change the table, not this file. Constants only, so
// that both compilers read this file.

export const ruleNone = ${noRuleCode};
${constants.join('')}/** Memory could not grow: the body is neither right nor wrong. */
export const ruleNoMemory = ${noMemoryCode};
`;
}

/** `ruleKindLength` for `kind_length`. */
function constantName(rule: string): string {
  return `rule_${rule}`.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
}
