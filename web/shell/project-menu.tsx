// Which project is shown, and the way to another one.

import { navigate } from '../router.ts';
import { Icon } from '../ui/icon.tsx';
import { Menu, MenuItem } from '../ui/menu.tsx';
import { currentProject, Role, workspace } from '../workspace.ts';

export function ProjectMenu() {
  const here = currentProject.value;
  const projects = workspace.value?.projects ?? [];
  const mayMake = (workspace.value?.orgs ?? []).some(({ role }) => role >= Role.ADMIN);
  if (projects.length === 0) return null;
  return (
    <Menu
      label={`Project: ${here?.displayName ?? 'Choose a project'}`}
      class="project-menu"
      button={
        <>
          <span class="clip">{here?.displayName ?? 'Choose a project'}</span>
          <Icon name="down" />
        </>
      }
    >
      {projects.map((project) => (
        <MenuItem
          key={project.id}
          onChoose={() => navigate(`/p/${project.id}`)}
          isChosen={project === here}
        >
          {project.displayName}
        </MenuItem>
      ))}
      <MenuItem onChoose={() => navigate('/?all')}>All projects</MenuItem>
      {mayMake ? <MenuItem onChoose={() => navigate('/?all&new')}>New project</MenuItem> : null}
    </Menu>
  );
}
