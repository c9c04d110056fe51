// Recovery codes, which the service shows once.

import { Code } from '../ui/copy.tsx';

export function RecoveryCodes({
  codes,
  onClose,
}: {
  codes: readonly string[];
  onClose: () => void;
}) {
  return (
    <>
      <p>
        Print these codes, or keep them where you keep passwords: each signs you in once without the
        app. They are shown this once.
      </p>
      <Code text={codes.join('\n')} what="Recovery codes" />
      <div class="row end">
        <button type="button" class="primary" onClick={onClose}>
          I have kept them
        </button>
      </div>
    </>
  );
}
