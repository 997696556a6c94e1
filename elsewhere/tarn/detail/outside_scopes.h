#pragma once
#include "../../../include/tarn/detail/outside_scopes.h"
#include "tarn/detail/blocks.h"
