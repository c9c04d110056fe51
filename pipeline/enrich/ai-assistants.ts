// The AI assistants that send visitors, by the hosts and the names in which they tell. Their visits stay in one of the
// thirteen channels, which have none for them; $aiAssistant tells them from other referrals.

import { ofHost } from './traffic-sources.ts';

const assistants: ReadonlyMap<string, string> = new Map([
  ['bard.google.com', 'Gemini'],
  ['chat.deepseek.com', 'DeepSeek'],
  ['chat.mistral.ai', 'Mistral'],
  ['chat.openai.com', 'ChatGPT'],
  ['chat.qwen.ai', 'Qwen'],
  ['chatgpt', 'ChatGPT'],
  ['chatgpt.com', 'ChatGPT'],
  ['claude.ai', 'Claude'],
  ['copilot.cloud.microsoft', 'Copilot'],
  ['copilot.com', 'Copilot'],
  ['copilot.microsoft.com', 'Copilot'],
  ['deepseek', 'DeepSeek'],
  ['doubao.com', 'Doubao'],
  ['duck.ai', 'Duck.ai'],
  ['gemini.google.com', 'Gemini'],
  ['grok.com', 'Grok'],
  ['kimi.com', 'Kimi'],
  ['meta.ai', 'Meta AI'],
  ['notebooklm.google.com', 'NotebookLM'],
  ['openai', 'ChatGPT'],
  ['openai.com', 'ChatGPT'],
  ['perplexity', 'Perplexity'],
  ['perplexity.ai', 'Perplexity'],
  ['phind.com', 'Phind'],
  ['poe.com', 'Poe'],
  ['you.com', 'You.com'],
]);

/** The assistant of a source, which is a host or a bare name in lower case; '' where it is none. */
export function aiAssistantOf(source: string): string {
  return source === '' ? '' : (ofHost(assistants, source) ?? '');
}
