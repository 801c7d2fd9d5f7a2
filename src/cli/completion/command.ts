/** `nixl-otel completion`: prints the completion script of a shell, made of the same rows as --help. */
import type { Command } from 'commander';
import { print } from '../../process/output.js';
import type { CommandReference } from '../reference.js';

const SCRIPTS = {
  bash: async () => (await import('./bash.js')).bashCompletion,
  zsh: async () => (await import('./zsh.js')).zshCompletion,
};

const HELP = `
Completes commands, flags, allowed values, files and directories. In ~/.bashrc or ~/.zshrc:
  source <(nixl-otel completion bash)
  source <(nixl-otel completion zsh)    # after compinit

Or as a file of the shell:
  nixl-otel completion bash > ~/.local/share/bash-completion/completions/nixl-otel
  nixl-otel completion zsh > ~/.zfunc/_nixl-otel    # a folder of fpath`;

export function defineCompletion(command: Command, reference: () => Promise<CommandReference>): void {
  command.registeredArguments[0]!.choices(Object.keys(SCRIPTS));
  command.addHelpText('after', HELP).action(async (shell: keyof typeof SCRIPTS) => {
    print((await SCRIPTS[shell]())(await reference()));
  });
}
