// Finds a link of the app in a mail.

/** The path and query of the mail's link that begins with `path`; empty where there is none. */
export function linkInMail(mail: { text: string } | undefined, path: string): string {
  // Long lines are folded.
  const plain = (mail?.text ?? '').replaceAll(/=\r?\n/g, '').replaceAll('=3D', '=');
  return new RegExp(`${path}\\?token=[\\w.-]+`).exec(plain)?.[0] ?? '';
}
