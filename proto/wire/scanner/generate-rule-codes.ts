// `npm run generate:rules`: writes the scanner's constants from the table of rules. Runs in the root of the repository,
// where npm starts it.

import { writeFileSync } from 'node:fs';
import { ruleCodesPath, ruleCodesText } from './rule-codes-text.ts';

writeFileSync(ruleCodesPath, ruleCodesText());
