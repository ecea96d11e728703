#include "problems/generators/pile.hpp"
