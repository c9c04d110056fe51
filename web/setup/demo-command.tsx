// The command that fills an empty project.

import { Code } from '../ui/copy.tsx';

export function DemoCommand() {
  const { origin } = window.location;
  return (
    <>
      <p>Ninety days of made-up visits for a look around, with a private key of this project:</p>
      <Code text={`npm run demo -- --url ${origin} --private-key prv_...`} what="The command" />
      <p class="hint">
        For the demo project of a plain <code>npm start</code>, <code>npm run demo</code> is enough.
      </p>
    </>
  );
}
